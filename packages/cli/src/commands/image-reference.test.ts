import { expect, it } from 'vitest'
import { isImageReference } from './image-reference.ts'

it.each<[string, boolean]>([
  ['busybox', true],
  ['busybox:1.36', true],
  ['registry.example:5000/team/tools:v1_2', true],
  ['localhost/a/b__c', true],
  [`busybox@sha256:${'a'.repeat(64)}`, true],
  ['', false],
  ['Busybox', false],
  ['bad/X', false],
  ['a b', false],
  ['busybox:', false],
  ['busybox@sha256:abc', false],
  ['a'.repeat(2000), false],
])('%s can name an image: %s', (text, can) => {
  expect(isImageReference(text)).toBe(can)
})
