/** From the start of a server or an enclave until it says that it is ready; it loads in under a second. */
export const READY_MS_MAX = 30_000
/** A program that was asked to stop may finish what it is doing; then it is killed. */
export const STOP_MS_MAX = 10_000
/** A message over the pipe between two processes of one machine, and its answer. */
export const CLOCK_ACK_MS_MAX = 5_000
/** Programs of a killed sandbox notice its end at once and finish what they are doing. */
export const LEFTOVER_MS_MAX = 5_000
