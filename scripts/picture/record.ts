import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Step } from './session.ts'

/** A line of the terminal, and when it came. */
export interface Line {
  readonly kind: 'command' | 'output' | 'remark'
  readonly text: string
  readonly atMs: number
}

/** Plays a session with a program, in a directory of its own, and returns what its terminals show. */
export async function record(
  session: readonly Step[],
  { root, directory, program }: { root: string; directory: string; program: string },
): Promise<readonly Line[]> {
  const binaries = join(directory, 'bin')
  mkdirSync(binaries, { recursive: true })
  symlinkSync(join(root, 'examples'), join(directory, 'examples'))
  writeFileSync(join(binaries, 'coracle'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 })
  const { KUBECONFIG: _, ...env } = process.env
  const shell = { cwd: directory, env: { ...env, PATH: `${binaries}:${process.env.PATH}`, HOME: directory } }
  const started = performance.now()
  const now = () => Math.round(performance.now() - started)
  const lines: Line[] = []
  const background: (() => Promise<void>)[] = []
  try {
    for (const { command, shows, until, remark } of session) {
      if (remark !== undefined) lines.push({ kind: 'remark', text: remark, atMs: now() })
      lines.push({ kind: 'command', text: command, atMs: now() })
      const { printed, stop } = await play(command, until, shell, now)
      background.push(stop)
      lines.push(...chosen(printed, shows))
    }
    return lines
  } finally {
    for (const stop of background) await stop()
  }
}

/** Runs a command to its end, or to a line; what goes on is ended by `stop`. */
async function play(command: string, until: RegExp | undefined, shell: object, now: () => number) {
  const child = spawn('bash', ['-c', `exec ${command} 2>&1`], { ...shell, stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  const printed: Line[] = []
  let text = ''
  child.stdout.setEncoding('utf8')
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    text += chunk
    printed.push(
      ...text
        .split('\n')
        .slice(printed.length, -1)
        .map((line) => outputAt(line, now())),
    )
    if (until?.test(text)) break
  }
  child.stdout.resume()
  return {
    printed,
    stop: async () => {
      child.kill('SIGINT')
      await closed
    },
  }
}

const outputAt = (text: string, atMs: number): Line => ({ kind: 'output', text, atMs })

/** The first line of each pattern, in the order of the lines, with a mark where some between them are left out. */
export function chosen(lines: readonly Line[], patterns: readonly RegExp[] | undefined): readonly Line[] {
  if (patterns === undefined) return lines.filter(({ text }) => text !== '')
  const indexes = patterns.map((pattern) => lines.findIndex(({ text }) => pattern.test(text)))
  const missing = patterns.filter((_, index) => indexes[index] === -1)
  if (missing.length > 0)
    throw new Error(`no line is ${missing.join(', ')} in:\n${lines.map(({ text }) => text).join('\n')}`)
  const shown = [...new Set(indexes)].sort((a, b) => a - b)
  return shown.flatMap((index, position) => {
    const line = lines[index]
    const before = shown[position - 1]
    if (line === undefined) return []
    const isGap = before !== undefined && lines.slice(before + 1, index).some(({ text }) => text !== '')
    return isGap ? [outputAt('…', line.atMs), line] : [line]
  })
}
