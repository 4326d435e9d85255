import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const programs = ['main.ts', 'plan/main.ts', 'bugs/main.ts']
const run = (program: string, ...args: readonly string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, program), ...args], { encoding: 'utf8' })

describe.each(programs)('the arguments of %s', (program) => {
  it('are listed by --help', () => {
    const { status, stdout, stderr } = run(program, '--help')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/^usage: npm run simulate.*\n\n {2}--seeds N/)
  })

  it('that make no sense are named, with the usage', () => {
    const { status, stdout, stderr } = run(program, '--seeds', '0')
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^error: --seeds takes a whole number from 1 on, not "0"\n\nusage: npm run simulate/)
  })
})
