import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Container, Pod, ResourceClaim } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { testContainer, testPod } from '../../testing/pods.ts'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import { ClaimPreparer } from './claim-preparer.ts'
import type { ClaimName } from './device-driver.ts'

const gpus = 'gpu.example.com'
const nics = 'nic.example.com'

/** A driver that gives each claim a device of its own for the request of the driver's kind. */
function fakeDriver(kind: string) {
  const asked: string[] = []
  return {
    asked,
    refusal: '',
    async prepare({ name }: ClaimName) {
      asked.push(`prepare ${name}`)
      if (this.refusal !== '') throw new Error(this.refusal)
      return [{ requestNames: [kind], poolName: 'pool', deviceName: name, cdiDeviceIds: [`${kind}=${name}`] }]
    },
    async unprepare({ name }: ClaimName) {
      asked.push(`unprepare ${name}`)
      if (this.refusal !== '') throw new Error(this.refusal)
    },
  }
}

function start(path = join(temporaryDirectory(), 'claims.json')) {
  const drivers = new Map([
    [gpus, fakeDriver('gpu')],
    [nics, fakeDriver('nic')],
  ])
  const preparer = new ClaimPreparer({ path, driver: (name) => drivers.get(name) })
  const asked = (name: string) => drivers.get(name)?.asked
  return { preparer, drivers, asked, path }
}

const claimOf = (name: string, drivers: readonly string[], uid = `${name}-1`): ResourceClaim => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { namespace: 'default', name, uid },
  spec: {},
  status: {
    allocation: {
      devices: { results: drivers.map((driver) => ({ request: 'r', driver, pool: 'pool', device: 'd' })) },
    },
  },
})

const podOf = (uid: string): Pod =>
  testPod(
    {
      resourceClaims: [
        { name: 'mine', resourceClaimName: 'training' },
        { name: 'none', resourceClaimTemplateName: 'template' },
      ],
    },
    { metadata: { uid } },
  )

const having = (...claims: readonly { readonly name: string; readonly request?: string }[]): Container =>
  testContainer({ resources: { claims } })

describe('a claim', () => {
  it('is prepared by its drivers once for all pods that have it, and given back with the last', async () => {
    const { preparer, asked } = start()
    const claim = claimOf('training', [gpus, nics, gpus])
    await preparer.prepare(podOf('one'), [claim])
    await preparer.prepare(podOf('two'), [claim])
    expect([asked(gpus), asked(nics)]).toEqual([['prepare training'], ['prepare training']])
    expect(await preparer.podUids()).toEqual(['one', 'two'])
    await preparer.unprepare('one')
    expect(asked(gpus)).toEqual(['prepare training'])
    await preparer.unprepare('two')
    expect([asked(gpus), asked(nics)]).toEqual([
      ['prepare training', 'unprepare training'],
      ['prepare training', 'unprepare training'],
    ])
    expect(await preparer.podUids()).toEqual([])
  })

  it('is prepared once for pods that come at the same moment', async () => {
    const { preparer, asked } = start()
    const claim = claimOf('training', [gpus])
    await Promise.all(['one', 'two'].map((uid) => preparer.prepare(podOf(uid), [claim])))
    expect(asked(gpus)).toEqual(['prepare training'])
    expect(await preparer.podUids()).toEqual(['one', 'two'])
  })

  it('waits for a driver that is not there', async () => {
    const { preparer, drivers, asked } = start()
    drivers.delete(gpus)
    const claim = claimOf('training', [nics, gpus])
    await expect(preparer.prepare(podOf('one'), [claim])).rejects.toThrow(
      'ResourceClaim training: DRA driver gpu.example.com is not registered',
    )
    expect(asked(nics)).toEqual([])
    drivers.set(gpus, fakeDriver('gpu'))
    await preparer.prepare(podOf('one'), [claim])
  })

  it('without devices that were chosen is none', async () => {
    const claim = { ...claimOf('training', []), status: {} }
    await expect(start().preparer.prepare(podOf('one'), [claim])).rejects.toThrow(
      'ResourceClaim training: not allocated',
    )
  })

  it('in place of one that has not been given back waits for that', async () => {
    const { preparer } = start()
    await preparer.prepare(podOf('one'), [claimOf('training', [gpus])])
    await expect(preparer.prepare(podOf('two'), [claimOf('training', [gpus], 'training-2')])).rejects.toThrow(
      'old ResourceClaim with same name training and different UID training-1 still exists',
    )
    await preparer.unprepare('one')
    await preparer.prepare(podOf('two'), [claimOf('training', [gpus], 'training-2')])
  })

  it('that a driver refuses to prepare is asked for again, and given back by all', async () => {
    const { preparer, drivers, asked } = start()
    const nic = drivers.get(nics)
    if (nic !== undefined) nic.refusal = 'no room'
    await expect(preparer.prepare(podOf('one'), [claimOf('training', [gpus, nics])])).rejects.toThrow('no room')
    if (nic !== undefined) nic.refusal = ''
    await preparer.unprepare('one')
    expect([asked(gpus)?.at(-1), asked(nics)?.at(-1)]).toEqual(['unprepare training', 'unprepare training'])
  })

  it('that a driver does not take back is kept until it does', async () => {
    const { preparer, drivers } = start()
    const gpu = drivers.get(gpus)
    await preparer.prepare(podOf('one'), [claimOf('training', [gpus])])
    if (gpu !== undefined) gpu.refusal = 'in use'
    await expect(preparer.unprepare('one')).rejects.toThrow('in use')
    expect(await preparer.podUids()).toEqual(['one'])
    if (gpu !== undefined) gpu.refusal = ''
    await preparer.unprepare('one')
    expect(await preparer.podUids()).toEqual([])
  })
})

describe('a container has', () => {
  it.each<[string, Container, readonly string[]]>([
    ['all of a claim', having({ name: 'mine' }), ['gpu=training', 'nic=training']],
    ['what one request of it has got', having({ name: 'mine', request: 'nic' }), ['nic=training']],
    [
      'several',
      having({ name: 'mine', request: 'nic' }, { name: 'mine', request: 'gpu' }),
      ['nic=training', 'gpu=training'],
    ],
    ['nothing of a request that has got nothing', having({ name: 'mine', request: 'x' }), []],
    ['nothing of a claim that was never to be made', having({ name: 'none' }), []],
    ['nothing that it does not name', testContainer(), []],
  ])('%s', async (_, container, names) => {
    const { preparer } = start()
    const pod = podOf('one')
    await preparer.prepare(pod, [claimOf('training', [gpus, nics])])
    expect(await preparer.cdiNames(pod, container)).toEqual(names)
  })

  it('nothing of a claim that was not prepared, and does not start', async () => {
    await expect(start().preparer.cdiNames(podOf('one'), having({ name: 'mine' }))).rejects.toThrow(
      'unable to get claim info for ResourceClaim training in namespace default',
    )
  })
})

describe('an agent that starts again', () => {
  it('knows who has what, has it prepared again, and gives it back', async () => {
    const first = start()
    const claim = claimOf('training', [gpus])
    await first.preparer.prepare(podOf('one'), [claim])
    const { preparer, asked } = start(first.path)
    expect(await preparer.podUids()).toEqual(['one'])
    expect(await preparer.cdiNames(podOf('one'), having({ name: 'mine' }))).toEqual(['gpu=training'])
    await preparer.prepare(podOf('one'), [claim])
    expect(asked(gpus)).toEqual(['prepare training'])
    await preparer.unprepare('one')
    expect(await start(first.path).preparer.podUids()).toEqual([])
  })

  it('gives nobody anything where it cannot read who has what', async () => {
    const path = join(temporaryDirectory(), 'claims.json')
    writeFileSync(path, '{')
    await expect(start(path).preparer.prepare(podOf('one'), [claimOf('training', [gpus])])).rejects.toThrow(
      `it cannot be read which devices pods have: drain the node and remove ${path}`,
    )
  })
})
