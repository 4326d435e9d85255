import { join } from 'node:path'
import { type ResourceSlice, resourceSlices } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FakeDeviceDriver } from '../../testing/fake-device-driver.ts'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import { DeviceDrivers, wipingDelayMs } from './device-drivers.ts'

const name = 'gpu.example.com'
const claim = { namespace: 'shop', name: 'training', uid: 'claim-1' }

function start() {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const drivers = new DeviceDrivers({ client, environment, nodeName: 'node-a' })
  onTestFinished(() => drivers.stop())
  return { client, clock: environment.clock, drivers }
}

describe('a driver of devices', () => {
  it.each([
    [['v1.DRAPlugin'], undefined],
    [['v2.DRAPlugin', 'v1beta1.DRAPlugin'], undefined],
    [[], 'empty list of supported gRPC services (aka supported versions)'],
    [
      ['v1alpha4.Node'],
      'none of services supported by the plugin (["v1alpha4.Node"]) are supported by the kubelet (["v1.DRAPlugin" "v1beta1.DRAPlugin"])',
    ],
  ])('that has the services %j is taken, or is told why not', (versions, why) => {
    const before = `invalid supported gRPC versions of DRA driver plugin ${name} at endpoint /d.sock: `
    expect(start().drivers.problem(name, '/d.sock', versions)).toBe(why && before + why)
  })

  it.each(['v1.DRAPlugin', 'v1beta1.DRAPlugin'] as const)('is asked by %s', async (service) => {
    const socket = join(temporaryDirectory(), 'driver.sock')
    const fake = await FakeDeviceDriver.start(socket, service)
    const { drivers } = start()
    const driver = await drivers.take(name, socket, [service])
    expect(await driver.prepare(claim)).toEqual([
      {
        requestNames: ['gpu'],
        poolName: 'pool',
        deviceName: 'gpu-training',
        cdiDeviceIds: ['example.com/gpu=training'],
      },
    ])
    await driver.unprepare(claim)
    expect(fake.asked).toEqual(['prepare shop/training', 'unprepare shop/training'])
    driver.close()
    expect(drivers.driver(name)).toBeUndefined()
  })

  it('that refuses says why, of which claim', async () => {
    const socket = join(temporaryDirectory(), 'driver.sock')
    const fake = await FakeDeviceDriver.start(socket)
    const driver = await start().drivers.take(name, socket, ['v1.DRAPlugin'])
    fake.prepare = () => ({ error: 'too hot' })
    fake.unprepare = () => ({ error: 'in use' })
    await expect(driver.prepare(claim)).rejects.toThrow(
      'NodePrepareResources failed for ResourceClaim training: too hot',
    )
    await expect(driver.unprepare(claim)).rejects.toThrow(
      'NodeUnprepareResources failed for ResourceClaim training: in use',
    )
    driver.close()
  })

  it('that is not to be reached is told of by the name of the call', async () => {
    const driver = await start().drivers.take(name, join(temporaryDirectory(), 'driver.sock'), ['v1.DRAPlugin'])
    await expect(driver.prepare(claim)).rejects.toThrow(
      'NodePrepareResources: rpc error: code = Unavailable desc = there is no socket',
    )
    driver.close()
  })

  it('that comes later in place of another of its name is the one that is asked', async () => {
    const { drivers } = start()
    const [first, second] = [await drivers.take(name, '/1.sock', []), await drivers.take(name, '/2.sock', [])]
    expect(drivers.driver(name)).toBe(second)
    second.close()
    expect(drivers.driver(name)).toBe(first)
    first.close()
  })
})

describe('what a driver has offered', () => {
  const slice = (driver: string, nodeName: string): ResourceSlice =>
    ({
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceSlice',
      metadata: { name: `${nodeName}-${driver}` },
      spec: {
        driver,
        nodeName,
        pool: { name: nodeName, generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'a' }],
      },
    }) as ResourceSlice

  async function offered() {
    const started = start()
    const { client } = started
    for (const each of [slice(name, 'node-a'), slice(name, 'node-b'), slice('other.example.com', 'node-a')])
      await client.create(resourceSlices, each)
    const names = () => client.stored(resourceSlices).map(({ metadata }) => metadata.name)
    return { ...started, names }
  }

  it('on its node is taken back when it has been gone for a while', async () => {
    const { drivers, clock, names } = await offered()
    await drivers.withdraw(name)
    await clock.advance(wipingDelayMs - 1)
    expect(names()).toHaveLength(3)
    await clock.advance(1)
    expect(names()).toEqual([`node-b-${name}`, 'node-a-other.example.com'])
  })

  it('stays where it is back in time', async () => {
    const { drivers, clock, names } = await offered()
    await drivers.withdraw(name)
    await drivers.take(name, '/1.sock', [])
    drivers.registered(name)
    await clock.advance(2 * wipingDelayMs)
    expect(names()).toHaveLength(3)
  })

  it('is taken back later where the API is away', async () => {
    const { client, drivers, clock, names } = await offered()
    const allow = client.intercept(() => {
      throw new Error('away')
    })
    await drivers.withdraw(name)
    await clock.advance(wipingDelayMs)
    allow()
    await clock.advance(wipingDelayMs)
    expect(names()).toHaveLength(2)
  })
})
