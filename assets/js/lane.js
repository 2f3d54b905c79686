// One lane: its name, how far it is, and its text.

const LANE_TITLES = {
  sbd: "Set Block Decoding", verify: "Verify (lossless)", ntp: "Next-token prediction",
};

/** Next-token prediction reads no text to its right: the tokens that are given are not for it. */
function laneTitle(run, lane) {
  const title = LANE_TITLES[lane.name] ?? lane.name;
  return run.pins.size > lane.pins.size ? `${title}, without the given tokens` : title;
}

class LaneView {
  constructor(label, actions) {
    this.name = make("h2", "sbd-lane-name");
    this.place = make("span", "sbd-lane-place");
    this.fill = make("span", "sbd-lane-fill");
    this.text = makeLaneText(label, actions);
    this.root = make("section", "sbd-lane", {},
      make("div", "sbd-lane-head", {}, this.name,
        make("span", "sbd-lane-meter", { "aria-hidden": "true" }, this.fill), this.place),
      this.text.root);
  }

  update(view, lane) {
    const pass = Math.min(view.pass, lane.lastPass);
    const tokens = lane.numTokensAt(pass);
    const isWhole = lane.finish !== null;
    setText(this.name, laneTitle(view.run, lane));
    setText(this.place, `${tokens}${isWhole ? ` of ${lane.numCommitted}` : ""} tokens · ` +
      `pass ${pass + 1}${isWhole ? ` of ${lane.steps.length}` : ""}`);
    const share = isWhole ? tokens / Math.max(lane.numCommitted, 1) : 0;
    setStyle(this.fill, "width", `${share * 100}%`);
    this.text.update(view, lane);
  }
}
