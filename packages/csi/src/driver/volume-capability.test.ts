import { expect, it } from 'vitest'
import { nodeCapabilities } from '../wire/messages.ts'
import { capabilityOf, type MountWishes } from './volume-capability.ts'

const wishes: MountWishes = { accessModes: ['ReadWriteOnce'], fsType: '', mountOptions: [], fsGroup: undefined }
const modeOf = (mode: MountWishes['accessModes'][number], ...capabilities: readonly number[]) =>
  capabilityOf({ ...wishes, accessModes: [mode, 'ReadOnlyMany'] }, new Set(capabilities)).accessMode?.mode

it.each([
  ['ReadWriteOnce', 1, 7],
  ['ReadWriteOncePod', 1, 6],
  ['ReadOnlyMany', 3, 3],
  ['ReadWriteMany', 5, 5],
] as const)('%s is mode %i, or %i of drivers that tell writers apart', (mode, usual, telling) => {
  expect(modeOf(mode)).toBe(usual)
  expect(modeOf(mode, nodeCapabilities.singleNodeMultiWriter)).toBe(telling)
})

it('is for one writer where nothing is said', () => {
  expect(capabilityOf({ ...wishes, accessModes: [] }, new Set()).accessMode).toEqual({ mode: 1 })
})

it('names the file system, the options and, to drivers that mount for a group, the group', () => {
  const more = { ...wishes, fsType: 'ext4', mountOptions: ['noatime'], fsGroup: 1000 }
  expect(capabilityOf(more, new Set()).mount).toEqual({ fsType: 'ext4', mountFlags: ['noatime'] })
  expect(capabilityOf(more, new Set([nodeCapabilities.volumeMountGroup])).mount).toMatchObject({
    volumeMountGroup: '1000',
  })
})
