import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { processStart } from './process-start.ts'

describe.runIf(process.platform === 'linux')('the start of a process', () => {
  it('is when the process started, in hundredths of a second since the system did', () => {
    const upSeconds = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])
    const agoSeconds = upSeconds - Number(processStart()) / 100
    expect(Math.abs(agoSeconds - process.uptime())).toBeLessThan(5)
  })

  it('is the same by the id of the process', () => {
    expect(processStart(process.pid)).toBe(processStart('self'))
  })

  it('is not told of a process that there is not', () => {
    // Ids end before that.
    expect(processStart(2 ** 22 + 1)).toBeUndefined()
  })
})
