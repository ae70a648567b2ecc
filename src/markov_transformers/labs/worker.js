// Runs a laboratory's computations away from the page, the newest request first.

const PATIENCE = 100; // ms that a run which has shown nothing yet may go on beside a newer request
const SLICE = 10; // ms between two looks at the messages

// Answers requests { id, settings } with { id, result, done } or { id, error }.
export function serve(compute, port) {
  const memory = {};
  const pause = pauses();
  let waiting = null;
  let running = false;

  const run = async ({ id, settings }) => {
    const began = performance.now();
    let looked = began;
    let delivered = false;
    try {
      const steps = compute(settings, memory);
      for (;;) {
        const { value, done } = steps.next();
        if (value !== undefined) port.postMessage({ id, result: value, done });
        if (done) return;
        delivered ||= value !== undefined;
        if (value === undefined && performance.now() - looked < SLICE) continue;
        await pause();
        looked = performance.now();
        if (waiting && (delivered || looked - began > PATIENCE)) return;
      }
    } catch (error) {
      port.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
    }
  };

  port.onmessage = async ({ data }) => {
    waiting = data;
    if (running) return;
    running = true;
    while (waiting) {
      const request = waiting;
      waiting = null;
      await run(request);
    }
    running = false;
  };
}

// A pause that lets messages in and, unlike a timer, takes no time of its own.
function pauses() {
  const { port1, port2 } = new MessageChannel();
  let resume = null;
  port1.onmessage = () => resume();
  return () =>
    new Promise((resolve) => {
      resume = resolve;
      port2.postMessage(0);
    });
}

// Keeps what a part of a computation returned until one of its inputs changes.
export function* kept(memory, part, inputs, make) {
  const key = JSON.stringify(inputs);
  if (memory[part]?.key !== key) memory[part] = { key, value: yield* make() };
  return memory[part].value;
}
