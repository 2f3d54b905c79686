// A thread of Node that helps a kernel; see kernels.js.

import { workerData } from "node:worker_threads";
import { helpUntilEnded } from "../../../engine/threads.js";

await helpUntilEnded(workerData);
