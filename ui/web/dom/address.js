// Where the server's files are for this browser, behind whatever proxy the page came through.

/** @typedef {{ root?: string, api_prefix?: string }} GradioConfig */

/**
 * The address of a file below Gradio's routes: its root says the path, the page itself the host
 * and scheme that reach it.
 * @param {string} path
 */
export function fileAddress(path) {
  /** @type {GradioConfig} */
  const config = Reflect.get(window, "gradio_config") ?? {};
  const base = new URL(config.root || ".", document.baseURI);
  const origin = base.hostname === location.hostname ? location.origin : base.origin;
  const prefix = config.api_prefix ?? "/gradio_api";
  return `${origin}${base.pathname.replace(/\/$/, "")}${prefix}/${path}`;
}
