import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A line of a program's log. */
export type Line = Readonly<Record<string, unknown>>

/** A program of somebody else beside the server, which logs to standard error. It is ended with the block. */
export interface ControllerProcess extends AsyncDisposable {
  /** The next line of its log that is of this kind; rejects if it ends before. */
  until(isWanted: (line: Line) => boolean): Promise<Line>
  /** Tells it to end, and resolves with its exit code. */
  terminate(): Promise<number | null>
  readonly exitCode: number | null
}

/** Starts a program with nothing but a kubeconfig to find its cluster by. */
export function startController(
  script: string,
  env: Readonly<Record<string, string>> & { readonly KUBECONFIG: string },
): ControllerProcess {
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]()
  const text: string[] = []
  return {
    async until(isWanted) {
      for (;;) {
        const { value, done } = await lines.next()
        if (done === true) throw new Error(`the controller has ended with code ${child.exitCode}:\n${text.join('\n')}`)
        text.push(value)
        const line = parsed(value)
        if (isWanted(line)) return line
      }
    },
    async terminate() {
      child.kill('SIGTERM')
      await exited
      return child.exitCode
    },
    get exitCode() {
      return child.exitCode
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await exited
    },
  }
}

function parsed(text: string): Line {
  try {
    return JSON.parse(text)
  } catch {
    return { message: text }
  }
}
