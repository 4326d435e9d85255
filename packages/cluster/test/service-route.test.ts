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

  it('is not made to a range with an address of this host in it', () => {
    const code = `
      execFileSync('ip', ['address', 'add', '10.97.0.5/32', 'dev', 'lo'])
      const before = routes()
      for (const each of ['${range}', '0.0.0.0/0']) await routeToHost(each, '/one', environment)
      print(routes() - before)`
    const refused = 'addresses of services are not reached: their range has an address of this host in it'
    expect(apart(code)).toEqual([refused, refused, 0])
  })

  it('that cannot be made is told of, and nothing is taken back', () => {
    const code = `
      const takeBack = await routeToHost('nonsense', '/one', environment)
      await takeBack()
      print(routes())`
    expect(apart(code)).toEqual(['addresses of services are not reached: no local route could be made to them', 0])
  })
})

/** What begins code that has a client whose ServiceCIDRs are to be followed: `add(name, range)`, and `follow(isolates)`. */
const following = `
  import { serviceCidrs } from '@coracle/api'
  import { createFakeClient } from '@coracle/client/testing'
  import { createLogger, virtualEnvironment } from '@coracle/environment'
  import { ServiceRoutes } from ${JSON.stringify(fileURLToPath(new URL('../src/service-routes.ts', import.meta.url)))}
  const world = { ...virtualEnvironment(), ...environment }
  const client = createFakeClient(world)
  const add = (name, range) =>
    client.create(serviceCidrs, { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name }, spec: { cidrs: [range] } })
  const follow = (isolates) => new ServiceRoutes({ client, environment: world, dataDirectory: '/one', isolates })
  const all = () =>
    execFileSync('ip', ['route', 'show', 'table', 'local'], { encoding: 'utf8' }).split('\\n').filter((line) => line.includes('metric')).map((line) => line.split(' ')[1]).sort()`

describe.skipIf(!canBeApart())('the routes to services', { meta: { needs: 'unshare -n and ip, as root' } }, () => {
  it('are those to the ranges there are, for as long as they are there, and for loopback none', () => {
    const code = `${following}
      await add('kubernetes', '127.9.0.0/20')
      await add('more', '${range}')
      const followed = follow(false)
      await followed.start()
      print(all())
      await followed.stop()
      print(all())`
    expect(apart(code)).toEqual([[range], []])
  })

  it('follow ranges that come and go', () => {
    const code = `${following}
      await add('kubernetes', '${range}')
      const followed = follow(true)
      await followed.start()
      await add('most', '10.112.0.0/16')
      await client.delete(serviceCidrs, { name: 'kubernetes' })
      await world.clock.settle()
      while (all().join() !== '10.112.0.0/16') await new Promise(setImmediate)
      print(all())
      await followed.stop()`
    expect(apart(code)).toEqual([['10.112.0.0/16']])
  })

  it('do not help containers where services are on loopback, which is told', () => {
    const code = `${following}
      await add('kubernetes', '127.9.0.0/20')
      const processes = follow(false)
      await processes.start()
      const containers = follow(true)
      await containers.start()`
    expect(apart(code)).toEqual([expect.stringMatching(/^containers of this node do not reach services/)])
  })
})
