/** From the start of a server or an enclave until it reports that it is ready. It loads in under a second. */
export const READY_MS_MAX = 30_000
/** A program that was asked to stop may finish its work for this long; then it is killed. */
export const STOP_MS_MAX = 10_000
/** A message over the pipe between two local processes, and its reply. */
export const CLOCK_ACK_MS_MAX = 5_000
/** The programs of a killed sandbox notice its end at once and finish their work. */
export const LEFTOVER_MS_MAX = 5_000
