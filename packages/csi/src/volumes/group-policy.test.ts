import { expect, it } from 'vitest'
import { claimed, csiDriver, testPod, testVolume } from '../testing/objects.ts'
import { nodeCapabilities } from '../wire/messages.ts'
import { driverVolumeOf } from './driver-volume.ts'
import { givesToGroup } from './group-policy.ts'

type Policy = 'File' | 'None' | 'ReadWriteOnceWithFSType'

it.each<[string, Policy | undefined, object, object, boolean]>([
  ['is given to the group where it has a file system for one writer', undefined, { fsType: 'ext4' }, {}, true],
  ['is not where nobody says which file system it has', undefined, {}, {}, false],
  ['is not where several nodes write', undefined, { fsType: 'ext4' }, { accessModes: ['ReadWriteMany'] }, false],
  ['is for one pod', undefined, { fsType: 'ext4' }, { accessModes: ['ReadWriteOncePod'] }, true],
  ['is in any case where the driver wants that', 'File', {}, { accessModes: ['ReadWriteMany'] }, true],
  ['is never where the driver does not want it', 'None', { fsType: 'ext4' }, {}, false],
])('what is in a volume %s', (_, fsGroupPolicy, csi, spec, gives) => {
  const volume = driverVolumeOf(testPod(), claimed, testVolume(csi, spec))
  const driver = fsGroupPolicy === undefined ? undefined : csiDriver({ fsGroupPolicy })
  expect(volume && givesToGroup(volume, driver, new Set())).toBe(gives)
})

it('what is in a volume stays where it is only read, or the driver mounts it for the group', () => {
  const readOnly = { ...claimed, persistentVolumeClaim: { claimName: 'data', readOnly: true } }
  const [read, written] = [readOnly, claimed].map((each) => driverVolumeOf(testPod(), each, testVolume()))
  const driver = csiDriver({ fsGroupPolicy: 'File' })
  expect(read && givesToGroup(read, driver, new Set())).toBe(false)
  expect(written && givesToGroup(written, driver, new Set([nodeCapabilities.volumeMountGroup]))).toBe(false)
})

it('what is in a volume of the pod’s own is given to its group where it has a file system', () => {
  const own = (fsType?: string) =>
    driverVolumeOf(testPod(), { name: 'v', csi: { driver: 'd', ...(fsType ? { fsType } : {}) } }, undefined)
  const [with_, without] = [own('ext4'), own()]
  expect(with_ && givesToGroup(with_, undefined, new Set())).toBe(true)
  expect(without && givesToGroup(without, undefined, new Set())).toBe(false)
})
