import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const file = JSON.stringify(fileURLToPath(new URL('run-program.ts', import.meta.url)))

/** Runs a shell's script by a process of its own, sends that a signal once the script says so, and gives what is printed and how it ends. */
async function signalled(script: string, signal: NodeJS.Signals) {
  const code = `import { runProgram } from ${file}
process.exitCode = (await runProgram('sh', ['-c', ${JSON.stringify(script)}], false)).code`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line)
    if (line === 'ready') {
      child.kill(signal)
      child.stdin.end('go on\n')
    }
  })
  const [exitCode] = await once(child, 'close')
  return { lines, exitCode }
}

it('leaves Ctrl-C to the program that has the terminal, and lives as long as that', async () => {
  const script = 'echo ready; read word; echo "$word"; exit 3'
  expect(await signalled(script, 'SIGINT')).toEqual({ lines: ['ready', 'go on'], exitCode: 3 })
})

it('passes on what asks it to end', async () => {
  const script = 'trap "echo asked; exit 4" TERM; echo ready; while :; do sleep 0.01; done'
  expect(await signalled(script, 'SIGTERM')).toEqual({ lines: ['ready', 'asked'], exitCode: 4 })
  expect(await signalled('echo ready; while :; do sleep 0.01; done', 'SIGTERM')).toEqual({
    lines: ['ready'],
    exitCode: 128 + 15,
  })
})
