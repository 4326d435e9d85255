import { setFlagsFromString } from 'node:v8'

/** V8's flag for how often a function is called before TurboFan takes it on, and what Node.js has there. */
export const turbofanFlag = { name: '--invocation-count-for-turbofan', byDefault: 3000 } as const

/** What a server has there. */
const invocationsBeforeTurbofan = 100_000

/**
 * Has TurboFan, V8's last and slowest compiler, take on a function after 100,000 calls and not after 3,000, until the returned
 * function is called. Of what it compiles in a burst of a thousand pods most has not paid for itself when the burst is over;
 * under a load that lasts it is a few seconds later (docs/decisions/0050-last-compiler-later.md).
 *
 * To be called when everything is loaded, and undone before the process ends: code that Node.js keeps, its own included, is
 * good only under the flags it was compiled with.
 */
export function delayLastCompiler(setFlag: (flag: string) => void = setFlagsFromString): () => void {
  const { name, byDefault } = turbofanFlag
  setFlag(`${name}=${invocationsBeforeTurbofan}`)
  return () => setFlag(`${name}=${byDefault}`)
}
