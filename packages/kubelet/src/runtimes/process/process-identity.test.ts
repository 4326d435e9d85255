import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

/** Runs a module in a process that may have 64 files open, with this module's functions in scope; it prints JSON. */
function runWithFewDescriptors(body: string): unknown {
  const script = `
    import { openSync, readFileSync } from 'node:fs'
    import { hasEnded, isAlive, parseIdentity } from ${JSON.stringify(new URL('./process-identity.ts', import.meta.url).href)}
    const exhaustDescriptors = () => { try { for (;;) openSync('/') } catch {} }
    ${body}`
  const node = [process.execPath, '--input-type=module', '--eval', script]
  const { stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -n 64; "$@"', 'sh', ...node], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

describe.skipIf(process.platform !== 'linux')('the identity of a process', { meta: { needs: 'Linux' } }, () => {
  it('is neither alive nor ended while no file descriptor is left to look', () => {
    const looks = runWithFewDescriptors(`
      const pid = process.ppid
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')
      const parent = parseIdentity([pid, readFileSync('/proc/' + pid + '/stat', 'latin1').trim(), boot.trim(), ''].join('\\n'))
      const looks = [[isAlive(parent), hasEnded(parent)]]
      const other = { ...parent, startedAt: 'before' }
      looks.push([isAlive(other), hasEnded(other)])
      exhaustDescriptors()
      looks.push([isAlive(parent), hasEnded(parent)], [isAlive(other), hasEnded(other)])
      console.log(JSON.stringify(looks))`)
    expect(looks).toEqual([
      [true, false],
      [false, true],
      [false, false],
      [false, false],
    ])
  })
})
