// What build.js puts in the place of this import: the worker, bundled, as text.
declare module "sbd:gif-worker" {
  const script: string;
  export default script;
}
