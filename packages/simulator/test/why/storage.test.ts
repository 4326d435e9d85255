import { deployments, persistentVolumeClaims, persistentVolumes, pods, secrets, storageClasses } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { container, labels, Situation, selector, templateOf } from './situation.ts'

const claim = (spec: object = {}) => ({
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
})
const volume = (spec: object = {}) => ({
  spec: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
    hostPath: { path: '/data' },
    persistentVolumeReclaimPolicy: 'Retain',
    ...spec,
  },
})
const using_ = (claimName: string) => ({
  metadata: { labels },
  spec: { containers: [container], volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] },
})

describe('why a claim has no volume', () => {
  it('is of no class, and no volume is free', async () => {
    await using situation = await Situation.start()
    await situation.create(persistentVolumeClaims, 'data', claim({ storageClassName: '' }))
    await situation.create(pods, 'web', using_('data'))
    await situation.passes('10s')
    expect(await situation.cause(pods, 'web')).toBe(
      'NoVolumeFits of persistentvolumeclaim/data: it is to have a volume that is of no class, and none is free',
    )
    await situation.create(persistentVolumes, 'disk', volume())
    await situation.passes('2m')
    expect(await situation.verdict(pods, 'web')).toBe('fine')
  })

  it('is of a class that is not there', async () => {
    await using situation = await Situation.start()
    await situation.create(persistentVolumeClaims, 'data', claim({ storageClassName: 'fast' }))
    await situation.passes('10s')
    expect(await situation.cause(persistentVolumeClaims, 'data')).toBe(
      'StorageClassMissing of persistentvolumeclaim/data: there is no StorageClass fast, and no volume of that class fits',
    )
    await situation.create(persistentVolumes, 'disk', volume({ storageClassName: 'fast' }))
    await situation.passes('1m')
    expect(await situation.verdict(persistentVolumeClaims, 'data')).toBe('fine')
  })

  it('waits for the first pod that uses it', async () => {
    await using situation = await Situation.start()
    await situation.create(persistentVolumeClaims, 'data', claim())
    await situation.passes('10s')
    expect(await situation.why(persistentVolumeClaims, 'data')).toMatchObject({
      verdict: 'waiting',
      findings: [{ reason: 'WaitsForFirstConsumer' }],
    })
    await situation.create(pods, 'web', using_('data'))
    await situation.passes('1m')
    expect(await situation.verdict(persistentVolumeClaims, 'data')).toBe('fine')
    expect(await situation.verdict(pods, 'web')).toBe('fine')
  })

  it('waits for a provisioner that does not run', async () => {
    await using situation = await Situation.start()
    await situation.create(storageClasses, 'fast', { provisioner: 'disk.example.dev', volumeBindingMode: 'Immediate' })
    await situation.create(persistentVolumeClaims, 'data', claim({ storageClassName: 'fast' }))
    await situation.passes('10s')
    expect(await situation.cause(persistentVolumeClaims, 'data')).toBe(
      'WaitsForProvisioner of persistentvolumeclaim/data: provisioner disk.example.dev of class fast has not made a volume yet',
    )
    await situation.create(persistentVolumes, 'disk', volume({ storageClassName: 'fast' }))
    await situation.passes('1m')
    expect(await situation.verdict(persistentVolumeClaims, 'data')).toBe('fine')
  })

  it('wants a volume that another claim has', async () => {
    await using situation = await Situation.start()
    await situation.create(persistentVolumes, 'disk', volume())
    await situation.create(persistentVolumeClaims, 'first', claim({ storageClassName: '' }))
    await situation.passes('10s')
    await situation.create(persistentVolumeClaims, 'second', claim({ storageClassName: '', volumeName: 'disk' }))
    await situation.passes('10s')
    expect(await situation.cause(persistentVolumeClaims, 'second')).toBe(
      'VolumeTaken of persistentvolumeclaim/second: it wants volume disk, which is for claim default/first',
    )
  })
})

describe('why a pod has no volume', () => {
  it('names a claim that is not there', async () => {
    await using situation = await Situation.start()
    await situation.create(pods, 'web', using_('data'))
    await situation.passes('10s')
    expect(await situation.cause(pods, 'web')).toBe(
      'ClaimMissing of pod/web: there is no claim data in namespace default',
    )
    expect(await situation.remedy(pods, 'web')).toMatch(/^create persistentvolumeclaim\/data/)
    await situation.create(persistentVolumeClaims, 'data', claim())
    await situation.passes('6m')
    expect(await situation.verdict(pods, 'web')).toBe('fine')
  })
})

describe('why storage does not go', () => {
  it('is used by a pod', async () => {
    await using situation = await Situation.start()
    await situation.create(persistentVolumeClaims, 'data', claim())
    await situation.create(pods, 'web', using_('data'))
    await situation.passes('1m')
    await situation.delete(persistentVolumeClaims, 'data')
    expect(await situation.cause(persistentVolumeClaims, 'data')).toBe(
      'ClaimInUse of persistentvolumeclaim/data: pod web uses it',
    )
    await situation.delete(pods, 'web')
    await situation.passes('1m')
    expect(await situation.verdict(persistentVolumeClaims, 'data')).toBe('gone')
  })

  it('is kept for whoever looks at it', async () => {
    await using situation = await Situation.start()
    await situation.create(persistentVolumes, 'disk', volume())
    await situation.create(persistentVolumeClaims, 'data', claim({ storageClassName: '' }))
    await situation.passes('10s')
    await situation.delete(persistentVolumeClaims, 'data')
    await situation.passes('10s')
    expect(await situation.cause(persistentVolumes, 'disk')).toMatch(
      /^VolumeReleased of persistentvolume\/disk: its claim default\/data is gone/,
    )
    await situation.patch(persistentVolumes, 'disk', { spec: { claimRef: null } })
    await situation.passes('10s')
    expect(await situation.verdict(persistentVolumes, 'disk')).toBe('fine')
  })
})

describe('why a pod waits for its volumes', () => {
  it('shows a Secret that is not there, on a simulated node too', async () => {
    await using situation = await Situation.start()
    const template = templateOf({ volumes: [{ name: 'keys', secret: { secretName: 'shop' } }] })
    await situation.create(deployments, 'web', { spec: { replicas: 1, selector, template } })
    await situation.passes('10s')
    expect(await situation.cause(deployments, 'web')).toMatch(
      /^ConfigurationMissing of pod\/web-\S+: MountVolume.SetUp failed for volume "keys" : secret "shop" not found$/,
    )
    expect(await situation.remedy(deployments, 'web')).toBe('create secret/shop, or correct the name')
    await situation.create(secrets, 'shop', {})
    await situation.passes('3m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })
})
