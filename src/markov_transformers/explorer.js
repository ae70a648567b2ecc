// Flips through an explorer's stored frames. One copy stands behind each explorer and serves
// only the explorers that no earlier copy has served.
(() => {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  const serve = (root) => {
    const state = JSON.parse(root.querySelector(".mt-state").textContent);
    const image = root.querySelector(".mt-frame");
    const form = root.querySelector(".mt-controls");
    const readout = root.querySelector(".mt-readout");
    const fields = [...form.querySelectorAll("input, select")];
    const presets = [...form.querySelectorAll("[data-preset]")];

    const show = (caption) => {
      const frame = state.frames[caption];
      image.src = frame.image;
      image.alt = frame.alt;
      readout.textContent = caption;
      presets.forEach((button, i) =>
        button.setAttribute("aria-pressed", String(state.presets[i].frame === caption)));
    };
    const name = (field) => {
      if (field.dataset.texts) {
        field.setAttribute("aria-valuetext", JSON.parse(field.dataset.texts)[field.value]);
      }
    };
    const update = () => {
      fields.forEach(name);
      show(state.table[fields.map((field) => field.value).join(",")]);
    };

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", update);
    presets.forEach((button, i) => button.addEventListener("click", () => {
      const preset = state.presets[i];
      fields.forEach((field, j) => {
        if (preset.at[j] >= 0) field.value = preset.at[j];
        name(field);
      });
      show(preset.frame);
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
        update();
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

    fields.forEach(name);
    presets[0].setAttribute("aria-pressed", "true");
    form.hidden = false;
    root.dataset.served = "";
  };

  document.querySelectorAll(".mt-explorer:not([data-served])").forEach(serve);
})();
