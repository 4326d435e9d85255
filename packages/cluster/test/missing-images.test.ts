import { type Pod, pods } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'
import { withoutImages } from '../src/simulated.ts'

describe('simulated nodes that cannot have some images', () => {
  const namespace = 'default'
  const environment = virtualEnvironment({ seed: 5 })
  let cluster: Cluster
  /** When containers were to be made, in seconds. */
  let triedAt: number[]
  beforeEach(async () => {
    triedAt = []
    const behaviour = withoutImages(['web:broken', 'registry.example/*'], () => {
      triedAt.push(Math.round(environment.clock.now() / 1000))
      return {}
    })
    cluster = await startCluster({ environment, behaviour })
  })
  afterEach(() => cluster.stop())

  const start = async (image: string): Promise<void> => {
    const spec = { containers: [{ name: 'main', image }] }
    await cluster.client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', namespace },
      spec,
    } as Pod)
    await environment.clock.settle()
  }
  const shown = async () => {
    const { status } = await cluster.client.get(pods, { namespace, name: 'a' })
    const { state, restartCount } = status?.containerStatuses?.[0] ?? {}
    return { phase: status?.phase, reason: state?.waiting?.reason, message: state?.waiting?.message, restartCount }
  }

  it.each(['web:broken', 'registry.example/team/web:1'])('hold back a container of %s', async (image) => {
    await start(image)
    const waiting = {
      phase: 'Pending',
      reason: 'ImagePullBackOff',
      message: `Back-off pulling image "${image}": ErrImagePull: ${image}: not found`,
      restartCount: 0,
    }
    expect(await shown()).toEqual(waiting)
    await environment.clock.advance('1h')
    expect(await shown()).toEqual(waiting)
  })

  it.each(['web:1', 'web:broken-2', 'xregistry.example/web'])('run one of %s', async (image) => {
    await start(image)
    expect(await shown()).toMatchObject({ phase: 'Running', reason: undefined })
  })

  it('try again after 10 s, twice as long each time, up to 5 min', async () => {
    await start('web:broken')
    await environment.clock.advance('30m')
    const [first = 0] = triedAt
    expect(triedAt.map((at) => at - first)).toEqual([0, 10, 30, 70, 150, 310, 610, 910, 1210, 1510])
  })

  it('start it at once with another image', async () => {
    await start('web:broken')
    await environment.clock.advance('20m')
    await cluster.client.patch(
      pods,
      { namespace, name: 'a' },
      { type: 'strategic', body: { spec: { containers: [{ name: 'main', image: 'web:2' }] } } },
    )
    await environment.clock.settle()
    expect(await shown()).toMatchObject({ phase: 'Running', restartCount: 0 })
  })
})
