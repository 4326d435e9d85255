import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import type { Image, ImageService } from '../runtimes/runtime.ts'
import { testRun } from '../testing/pods.ts'
import { ImageCollector, imageCollectionPeriodMs } from './image-collector.ts'
import { imageLimits } from './image-limits.ts'

const image = (id: string, sizeBytes = 100): Image => ({
  id,
  repoTags: [`${id}:1`],
  repoDigests: [],
  sizeBytes,
  pinned: false,
})

/** A node with a disk of 1,000 bytes that images are on, of which those that are used are named. */
function nodeWith({
  images,
  used,
  usedBytes,
  asVolumes = false,
}: {
  images: Image[]
  used: string[]
  usedBytes: number
  asVolumes?: boolean
}) {
  const environment = virtualEnvironment()
  const present = new Map(images.map((each) => [each.id, each]))
  const disk = { usedBytes }
  const events: string[] = []
  const service: ImageService = {
    list: async () => [...present.values()],
    status: async (id) => present.get(id),
    pull: async (name) => name,
    async remove(id) {
      disk.usedBytes -= present.get(id)?.sizeBytes ?? 0
      present.delete(id)
    },
    fileSystem: async () => ({ path: '/images', capacityBytes: 1000, availableBytes: 1000 - disk.usedBytes }),
  }
  const collector = new ImageCollector({
    environment,
    runtime: {
      listContainers: async () =>
        used.map((image) => testRun(asVolumes ? { mountedImages: [image] } : { imageRef: image })),
    },
    images: service,
    limits: imageLimits,
    nodeName: 'node-a',
    recorder: { event: (about, _type, reason, message) => events.push(`${about.metadata.name} ${reason}: ${message}`) },
  })
  return { environment, collector, present, disk, events }
}

it('removes all that is not in use where the node needs the room', async () => {
  const pinned = { ...image('pause'), pinned: true }
  const { collector, present } = nodeWith({ images: [image('a'), image('b'), pinned], used: ['b'], usedBytes: 10 })
  await collector.removeUnused()
  expect([...present.keys()]).toEqual(['b', 'pause'])
})

it('removes no image that is a volume of a container', async () => {
  const images = [image('a'), image('b')]
  const { environment, collector, present } = nodeWith({ images, used: ['b'], usedBytes: 1000, asVolumes: true })
  collector.start()
  await environment.clock.advance(imageCollectionPeriodMs)
  expect([...present.keys()]).toEqual(['b'])
})

it('removes what is not in use when the disk fills up, and no more than that takes', async () => {
  const images = ['a', 'b', 'c', 'd'].map((id) => image(id))
  const { environment, collector, present, disk } = nodeWith({ images, used: ['b'], usedBytes: 700 })
  collector.start()
  await environment.clock.advance(imageCollectionPeriodMs)
  expect(present.size).toBe(4)
  disk.usedBytes = 950
  await environment.clock.advance(imageCollectionPeriodMs)
  expect([...present.keys()]).toEqual(['b', 'd'])
  expect(disk.usedBytes).toBe(750)
  collector.stop()
})

it.each(['collect', 'removeUnused'] as const)('leaves an image alone that has only just come: %s', async (remove) => {
  const { environment, collector, present, disk } = nodeWith({ images: [image('a')], used: [], usedBytes: 100 })
  collector.start()
  await environment.clock.settle()
  present.set('new', image('new'))
  disk.usedBytes = 900
  await collector[remove]()
  expect([...present.keys()]).toEqual(['new'])
  collector.stop()
})

it('tells of a disk that it cannot make room on, and, where that goes on, that it fails', async () => {
  const { environment, collector, events } = nodeWith({ images: [image('a', 10)], used: ['a'], usedBytes: 900 })
  const why =
    'Failed to garbage collect required amount of images. Attempted to free 100 bytes, but only found 0 bytes eligible to free.'
  collector.start()
  await environment.clock.settle()
  expect(events).toEqual([`node-a FreeDiskSpaceFailed: ${why}`])
  await environment.clock.advance(imageCollectionPeriodMs)
  expect(events.slice(1)).toEqual([`node-a FreeDiskSpaceFailed: ${why}`, `node-a ImageGCFailed: ${why}`])
  collector.stop()
})
