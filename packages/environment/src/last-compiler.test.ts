import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { delayLastCompiler, turbofanFlags } from './last-compiler.ts'
import { VirtualClock } from './virtual-clock.ts'

const { compile, wait, keepAsking, stopAsking } = turbofanFlags

/** A process whose work the test decides. */
function compiledProcess() {
  const clock = new VirtualClock()
  const flags: string[] = []
  let cpuMs = 300
  const stop = delayLastCompiler(clock, { cpuMs: () => cpuMs, setFlag: (flag) => void flags.push(flag) })
  /** Works for a share of the time, for so many half seconds. */
  const work = async (share: number, times: number) => {
    for (let time = 0; time < times; time += 1) {
      cpuMs += share * 500
      await clock.advance('500ms')
    }
  }
  return { flags, work, stop, clock }
}

describe('delayLastCompiler', () => {
  it('has nothing compiled in a burst of less than two seconds of CPU', async () => {
    const { flags, work } = compiledProcess()
    for (let burst = 0; burst < 3; burst += 1) {
      await work(1, 3)
      await work(0.05, 1)
    }
    expect(flags).toEqual([keepAsking, wait])
  })

  it('has the code of a load compiled that lasts, as long as it does', async () => {
    const { flags, work } = compiledProcess()
    await work(0.25, 15)
    expect(flags).toEqual([keepAsking, wait])
    await work(0.25, 1)
    expect(flags).toEqual([keepAsking, wait, compile])
    await work(0.25, 10)
    expect(flags).toEqual([keepAsking, wait, compile])
    await work(0.05, 1)
    expect(flags).toEqual([keepAsking, wait, compile, wait])
  })

  it('leaves the flags as Node.js has them', async () => {
    const { flags, work, stop } = compiledProcess()
    stop()
    await work(1, 10)
    expect(flags).toEqual([keepAsking, wait, compile, stopAsking])
    const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
    for (const flag of [compile, stopAsking]) expect(options).toContain(`type: bool  default: ${flag}\n`)
  })

  it('lets functions that were warm before the load lasted be compiled then', () => {
    const file = join(import.meta.dirname, 'testing', 'warm-functions.ts')
    const traced = execFileSync(process.execPath, ['--trace-opt', file], { encoding: 'utf8' })
    const [before = '', after = ''] = traced.split('the load lasts\n')
    expect(before).toContain('target MAGLEV')
    expect(before).not.toContain('target TURBOFAN')
    expect(after).toContain('target TURBOFAN')
  })
})
