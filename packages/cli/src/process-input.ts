import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { TerminalSize } from '@coracle/client/streaming'
import type { Input } from './host.ts'

/** The standard input of the process. */
export const processInput: Input = {
  get isTerminal() {
    return process.stdin.isTTY === true
  },
  open() {
    // One more stream in between: what is typed ahead is not lost when nobody wants it any more.
    const stream = new PassThrough()
    process.stdin.on('error', () => stream.end()).pipe(stream)
    return {
      stream,
      close() {
        process.stdin.unpipe(stream)
        process.stdin.pause()
        process.stdin.unref?.()
        stream.destroy()
      },
    }
  },
  makeRaw() {
    process.stdin.setRawMode?.(true)
    return () => process.stdin.setRawMode?.(false)
  },
  showAsWritten() {
    if (process.platform === 'win32') return
    // Node's raw mode begins a line for each line feed. Where the program is missing all but those that draw on the screen look right.
    spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] })
  },
  async *sizes(signal) {
    while (!signal.aborted) {
      const size = presentSize()
      if (size !== undefined) yield size
      try {
        await once(process.stdout, 'resize', { signal })
      } catch {
        return
      }
    }
  },
}

function presentSize(): TerminalSize | undefined {
  const { columns: width, rows: height } = process.stdout
  return width === undefined || height === undefined ? undefined : { width, height }
}
