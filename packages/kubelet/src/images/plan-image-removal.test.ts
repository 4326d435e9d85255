import { describe, expect, it } from 'vitest'
import { imageLimits } from './image-limits.ts'
import { planImageRemoval, type TrackedImage } from './plan-image-removal.ts'

const minute = 60_000
const nowMs = 1_000 * minute
const image = (id: string, fields: Partial<TrackedImage> = {}): TrackedImage => ({
  id,
  sizeBytes: 10,
  pinned: false,
  detectedMs: 0,
  usedMs: 0,
  isInUse: false,
  ...fields,
})
const full = (usedPercent: number) => ({ capacityBytes: 1000, availableBytes: 10 * (100 - usedPercent) })
const plan = (images: readonly TrackedImage[], usedPercent: number, limits = {}) => {
  const found = planImageRemoval(images, full(usedPercent), { ...imageLimits, ...limits }, nowMs)
  return { ...found, images: found.images.map(({ id }) => id) }
}

describe('the images that go', () => {
  it.each([
    [50, 0],
    [84, 0],
    [85, 50],
    [99, 190],
  ])('free as much as is wanted: %s percent in use, %s bytes', (usedPercent, wantedBytes) => {
    expect(plan([], usedPercent).wantedBytes).toBe(wantedBytes)
  })

  it('are none where there is room', () => {
    expect(plan([image('a')], 84)).toEqual({ images: [], wantedBytes: 0, outdated: 0 })
  })

  it('are those that were used least lately, first', () => {
    const images = [
      image('used', { usedMs: nowMs - 3 * minute }),
      image('earlier', { usedMs: nowMs - 9 * minute }),
      image('never', { detectedMs: 5 }),
      image('never, and older', { detectedMs: 4 }),
    ]
    expect(plan(images, 90).images).toEqual(['never, and older', 'never', 'earlier', 'used'])
  })

  it('are none that are in use, pinned, or have only just come', () => {
    const images = [
      image('in use', { isInUse: true, usedMs: nowMs }),
      image('pinned', { pinned: true }),
      image('new', { detectedMs: nowMs - 2 * minute + 1 }),
      image('two minutes old', { detectedMs: nowMs - 2 * minute }),
    ]
    expect(plan(images, 90).images).toEqual(['two minutes old'])
  })

  it('are never any with a high threshold of 100', () => {
    expect(plan([image('a')], 100, { highThresholdPercent: 100 }).images).toEqual([])
  })

  it('are those that nobody has used for too long, whatever room there is', () => {
    const images = [
      image('old', { usedMs: nowMs - 61 * minute }),
      image('fresh', { usedMs: nowMs - 59 * minute }),
      image('unused since it came', { detectedMs: nowMs - 61 * minute }),
      image('there from the start'),
    ]
    expect(plan(images, 10, { ageMaxMs: 60 * minute })).toEqual({
      images: ['unused since it came', 'old'],
      wantedBytes: 0,
      outdated: 2,
    })
    expect(plan(images, 90, { ageMaxMs: 60 * minute }).images).toEqual([
      'unused since it came',
      'old',
      'there from the start',
      'fresh',
    ])
  })
})
