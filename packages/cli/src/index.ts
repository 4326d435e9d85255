/** The `coracle` command as a function: what `bin/coracle.js` runs. */
export type { Host, Output } from './host.ts'
export { processHost } from './process-host.ts'
export { run } from './program.ts'
