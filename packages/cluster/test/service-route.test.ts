import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const range = '10.96.0.0/12'

/** Whether a namespace of the network can be made here: what `unshare -n` and `ip` take. */
function canBeApart(): boolean {
  try {
    execFileSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Runs code that has `routeToHost`, `routes()` and `print(value)` on a network of its own; gives what it printed. */
function apart(code: string): unknown[] {
  const script = `
    import { execFileSync } from 'node:child_process'
    import { routeToHost } from ${JSON.stringify(fileURLToPath(new URL('../src/service-route.ts', import.meta.url)))}
    const print = (value) => console.log(JSON.stringify(value))
    const environment = { logger: { warn: (message) => print(message) } }
    execFileSync('ip', ['link', 'set', 'lo', 'up'])
    const routes = () =>
      execFileSync('ip', ['route', 'show', 'table', 'local', '${range}'], { encoding: 'utf8' }).trim().split('\\n').filter(Boolean).length
    ${code}`
  const output = execFileSync('unshare', ['-n', process.execPath, '--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe.skipIf(!canBeApart())('the route to services', { meta: { needs: 'unshare -n and ip, as root' } }, () => {
  it('is taken back by whoever made it, and stays for another cluster of the same range', () => {
    const code = `
      const [first, second] = [await routeToHost('${range}', '/one', environment), await routeToHost('${range}', '/two', environment)]
      print(routes())
      await first()
      print(routes())
      await second()
      print(routes())`
    expect(apart(code)).toEqual([2, 1, 0])
  })

  it('that a killed program left is found again with its data directory', () => {
    const code = `
      await routeToHost('${range}', '/one', environment)
      const takeBack = await routeToHost('${range}', '/one', environment)
      print(routes())
      await takeBack()
      print(routes())`
    expect(apart(code)).toEqual([1, 0])
  })

  it('that cannot be made is told of, and nothing is taken back', () => {
    const code = `
      const takeBack = await routeToHost('nonsense', '/one', environment)
      await takeBack()
      print(routes())`
    expect(apart(code)).toEqual(['addresses of services are not reached: no local route could be made to them', 0])
  })
})
