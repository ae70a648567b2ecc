// Flips through an explorer's stored frames. One copy stands behind each explorer and serves
// only the explorers that no earlier copy has served.
(() => {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  const serve = (root) => {
    const { controls, frames, presets } = JSON.parse(root.querySelector(".mt-state").textContent);
    const image = root.querySelector(".mt-frame");
    const form = root.querySelector(".mt-controls");
    const readout = root.querySelector(".mt-readout");
    const buttons = [...form.querySelectorAll("[data-preset]")];
    const fields = [...form.querySelectorAll("input, select")];
    const stopsOf = (field) => JSON.parse(field.dataset.stops);
    let now = presets[0].at; // where each control stands among its values; in a frame -1: it does not matter

    // Where a control has no such stop on the page, its field stays and the text beside it is right.
    const place = (field) => {
      const k = Number(field.dataset.control), stop = stopsOf(field).indexOf(now[k]);
      if (stop >= 0) field.value = stop;
      field.parentElement.hidden = controls[k].when.some(([other, value]) => now[other] !== value);
      if (field.type !== "range") return;
      const text = controls[k].texts[now[k]];
      field.setAttribute("aria-valuetext", text);
      field.parentElement.querySelector(".mt-value").textContent = text;
    };
    const show = (caption, remark = "") => {
      const { image: source, alt, at } = frames[caption];
      now = at.map((value, k) => (value < 0 ? now[k] : value));
      image.src = source;
      image.alt = alt;
      readout.textContent = caption + remark;
      fields.forEach(place);
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(presets[i].frame === caption)));
    };

    // Not every combination has a frame: take the nearest, and say which settings had to change for it.
    const move = (field) => {
      const moved = Number(field.dataset.control), wanted = [...now];
      wanted[moved] = stopsOf(field)[field.value];
      const distance = ({ at }) =>
        at.reduce((sum, value, k) => {
          if (value < 0 || value === wanted[k]) return sum;
          return sum + (k === moved ? 1000 : 1) + Math.abs(value - wanted[k]) / 1000;
        }, 0);
      const captions = Object.keys(frames), distances = captions.map((caption) => distance(frames[caption]));
      const nearest = captions[distances.indexOf(Math.min(...distances))];
      const changed = frames[nearest].at.flatMap((value, k) =>
        value < 0 || value === wanted[k]
          ? []
          : [`${controls[k].label} went from ${controls[k].texts[wanted[k]]} to ${controls[k].texts[value]}`]);
      show(nearest, changed.length ? `. This page has no picture of the combination: ${changed.join(", ")}.` : "");
    };

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (event) => move(event.target));
    buttons.forEach((button, i) => button.addEventListener("click", () => {
      now = presets[i].at;
      show(presets[i].frame);
    }));

    form.querySelectorAll(".mt-play").forEach((button) => {
      const field = button.parentElement.querySelector("input");
      let timer = 0;
      const stop = () => {
        clearInterval(timer);
        timer = 0;
        button.setAttribute("aria-pressed", "false");
        button.textContent = calm.matches ? "Step" : "Play";
      };
      const step = () => {
        field.value = field.value === field.max ? field.min : Number(field.value) + 1;
        move(field);
        if (field.value === field.max) stop();
      };
      button.addEventListener("click", () => {
        if (timer) return stop();
        step();
        if (calm.matches || field.value === field.max) return;
        timer = setInterval(step, 500);
        button.setAttribute("aria-pressed", "true");
        button.textContent = "Stop";
      });
      field.addEventListener("pointerdown", stop);
      field.addEventListener("keydown", stop);
      stop();
    });

    fields.forEach(place);
    buttons[0].setAttribute("aria-pressed", "true");
    form.hidden = false;
    root.dataset.served = "";
  };

  document.querySelectorAll(".mt-explorer:not([data-served])").forEach(serve);
})();
