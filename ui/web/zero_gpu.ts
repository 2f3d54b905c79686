// Asks the page around this one, on Hugging Face Spaces, for the headers by which ZeroGPU knows its visitor. Gradio's own
// page does the same; this one was not tried there.

const OFFER = "supports-zerogpu-headers";
const HEADERS = "zerogpu-headers";
const AROUND = "https://huggingface.co";

let isOffered = false;

const isFramed = () => window.parent !== window && location.hostname.endsWith(".hf.space");

/** Ask whether the page around this one has headers to give. */
export function askForHeaders() {
  if (!isFramed()) return;
  addEventListener("message", ({ data, origin }) => {
    if (origin === AROUND && data === OFFER) isOffered = true;
  });
  window.parent.postMessage(OFFER, AROUND);
}

/** Return the visitor's headers; none where the page around this one has not offered them. */
export function visitorHeaders(): Promise<Record<string, string>> {
  if (!isOffered) return Promise.resolve({});
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => {
      port1.close();
      resolve(data ?? {});
    };
    window.parent.postMessage(HEADERS, AROUND, [port2]);
  });
}
