import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { delayLastCompiler, turbofanFlag } from './last-compiler.ts'

const { name, byDefault } = turbofanFlag

describe('delayLastCompiler', () => {
  it('raises a flag that this Node.js has, and leaves it as Node.js has it', () => {
    const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
    expect(options).toContain(`default: ${name}=${byDefault}\n`)
    const set: string[] = []
    const restore = delayLastCompiler((flag) => set.push(flag))
    expect(set).toEqual([`${name}=100000`])
    restore()
    expect(set).toEqual([`${name}=100000`, `${name}=${byDefault}`])
  })
})
