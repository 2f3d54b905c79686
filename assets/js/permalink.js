// A run's settings as an address, with the names that ui/share/permalink.py reads; a race's come from it.

const LINK_NAMES = { prompt: "prompt", strategy: "strategy", solver: "solver", gamma: "gamma",
  tau: "tau", factor: "factor", k: "k", by: "by", block_size: "block", max_new_tokens: "tokens",
  seed: "seed" };
const OTHER_NAMES = ["pins", "race", "low", "high"];

/** This page's address without a decode or a race in it; what else it says stays. */
function bareAddress() {
  const address = new URL(window.location.href);
  for (const name of [...Object.values(LINK_NAMES), ...OTHER_NAMES]) address.searchParams.delete(name);
  return address;
}

/** The address that races again; `query` as ui/share/permalink.py made it. */
function linkToRace(query) {
  const address = bareAddress();
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
  return address;
}

/** The address that decodes again with these settings, see Run.settings. */
function linkTo(settings) {
  const address = bareAddress();
  for (const [field, name] of Object.entries(LINK_NAMES)) {
    if (settings[field] !== undefined) address.searchParams.set(name, settings[field]);
  }
  const pins = settings.pinned.map((pair) => pair.join(":")).join();
  if (pins) address.searchParams.set("pins", pins);
  return address;
}

/** Let the address bar follow: the run's own link while it is the one asked for, else none. */
function keepAddress(address) {
  window.history.replaceState(window.history.state, "", address);
}
