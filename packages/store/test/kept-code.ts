import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Environment of a process that is started again and again from its sources: Node keeps what it has compiled of them, and the next starts in half
 * the time. What is killed has to call `flushCompileCache` before.
 */
export const withKeptCode = (): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
})
