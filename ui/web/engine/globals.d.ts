/** The version of onnxruntime-web, which build.js reads. */
declare const RUNTIME_VERSION: string;
