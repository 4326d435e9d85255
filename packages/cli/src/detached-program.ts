import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { DetachedProgram } from './host.ts'

/** The variable that tells a program that it was started detached. */
const detachedVariable = 'CORACLE_DETACHED'

/** Whether this program was started detached by another. */
export const isDetached = (variables: Readonly<Record<string, string | undefined>>): boolean =>
  variables[detachedVariable] !== undefined

/** Starts this program once more, as `Host.startDetached` promises. */
export function startDetached(args: readonly string[], outputFile: string): DetachedProgram {
  const output = openSync(outputFile, 'a', 0o600)
  try {
    const child = spawn(process.execPath, [...process.execArgv, ...ownScript(), ...args], {
      detached: true,
      // The channel is closed as soon as there was an announcement.
      stdio: ['ignore', output, output, 'ipc'],
      env: detachedVariables(process.env),
    })
    const announced = once(child, 'message').then(([message]: readonly unknown[]) => {
      child.disconnect()
      child.unref()
      return { announced: message }
    })
    const ended = once(child, 'exit').then(([code]) => ({ exitCode: code as number | null }))
    return { pid: child.pid ?? 0, outcome: Promise.race([announced, ended]) }
  } finally {
    closeSync(output)
  }
}

/** Tells the program that has started this one, as `Host.announce` promises. */
export function announce(message: object): void {
  // Whoever has started it may be gone by now, and need not be told.
  process.send?.(message, () => process.connected && process.disconnect())
}

/** A single executable is the program by itself; otherwise the runtime is given the script. */
function ownScript(): readonly string[] {
  const [, script] = process.argv
  return script === undefined || process.getBuiltinModule('node:sea').isSea() ? [] : [script]
}

/**
 * Beyond how many free bytes glibc gives the end of its heap back. Where nobody says so it takes ever larger buffers from the heap
 * too, once one of that size was freed: after a burst most of the heap is free and stays resident. Other C libraries do not read it.
 */
const trimThreshold = { MALLOC_TRIM_THRESHOLD_: `${4 * 1024 * 1024}` } as const

/** The environment of a program that goes on by itself, which runs for long, given that of the one that starts it. */
export function detachedVariables(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...trimThreshold, ...withoutNpm(variables), [detachedVariable]: '1' }
}

/** The variables without those by which npm tells what it runs: a program that goes on by itself is none of that. */
function withoutNpm(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !name.toLowerCase().startsWith('npm_')))
}
