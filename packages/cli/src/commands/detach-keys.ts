import { Transform } from 'node:stream'
import { CliError } from '../cli-error.ts'

/** Those of kubectl and of Docker. */
export const detachKeysDefault = 'ctrl-p,ctrl-q'

/** Keys that are typed with Ctrl, in the order of what they send, from 0 on. */
const controlKeys = '@abcdefghijklmnopqrstuvwxyz[\\]^_'

/**
 * The bytes that a sequence of keys sends: characters, `ctrl-` with a letter or one of `@[\]^_`, and `DEL`, with commas in between.
 * Throws a CliError on what is no key.
 */
export function detachSequence(keys: string): readonly number[] {
  return keys.split(',').map((key) => {
    if (Buffer.byteLength(key) === 1) return key.charCodeAt(0)
    if (key === 'DEL') return 127
    const [, control] = /^ctrl-(.)$/.exec(key) ?? []
    const code = control === undefined ? -1 : controlKeys.indexOf(control)
    if (code < 0) throw new CliError(`could not bind detach keys: Unknown character: '${key}'`)
    return code
  })
}

/**
 * Hands on what is typed until the sequence is, then calls `onDetach` and ends. What may be the beginning of the sequence is held
 * back until it is known to be none.
 */
export function untilDetached(sequence: readonly number[], onDetach: () => void): Transform {
  let matched = 0
  let isOver = false
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (isOver) return done()
      const passed: number[] = []
      for (const byte of chunk) {
        if (byte === sequence[matched]) {
          matched += 1
          if (matched < sequence.length) continue
          isOver = true
          this.push(Buffer.from(passed))
          this.push(null)
          onDetach()
          return done()
        }
        passed.push(...sequence.slice(0, matched), byte)
        matched = 0
      }
      done(null, Buffer.from(passed))
    },
    flush(done) {
      done(null, isOver ? undefined : Buffer.from(sequence.slice(0, matched)))
    },
  })
}
