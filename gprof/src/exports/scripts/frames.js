// Lets the mouse and the keys choose one of the frames, which are elements. `actions` has what a graph does in its own way:
// click(frame), tell(frame), zoom(frame), search(text), and near(key, frame), which returns the frame that an arrow key leads to.
// Returns an object with the current frame. `field` is the field for searches.
function choosing(frames, field, actions) {
  const chosen = { frame: null };

  function choose(frame) {
    if (!frame) return;
    if (chosen.frame) chosen.frame.node.classList.remove("current");
    chosen.frame = frame;
    frame.node.classList.add("current");
    actions.tell(frame);
  }

  for (const frame of frames) {
    frame.node.addEventListener("click", () => { choose(frame); actions.click(frame); });
    frame.node.addEventListener("mouseenter", () => actions.tell(frame));
    frame.node.addEventListener("mouseleave", () => actions.tell(chosen.frame));
  }
  field.addEventListener("input", () => actions.search(field.value));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      field.value = "";
      field.blur();
      actions.search("");
      actions.zoom(frames[0]);
    } else if (event.target.closest("input, select, button")) {
      return;
    } else if (event.key === "/") {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Enter") {
      actions.zoom(chosen.frame || frames[0]);
    } else if (event.key.startsWith("Arrow") && frames.length) {
      event.preventDefault();
      choose(actions.near(event.key, chosen.frame));
    }
  });
  return chosen;
}
