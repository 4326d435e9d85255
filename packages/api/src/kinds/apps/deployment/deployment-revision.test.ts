import { expect, it } from 'vitest'
import { compareRevisions, deploymentRevision, parseRevision, revisionAnnotation } from './deployment-revision.ts'

it.each([
  ['1', 1n],
  ['+2', 2n],
  ['-3', -3n],
  ['3546343826724305833', 3546343826724305833n],
  ['9223372036854775807', 9223372036854775807n],
  ['9223372036854775808', undefined],
  ['1.5', undefined],
  ['x', undefined],
  ['', undefined],
])('reads the revision %j as %s', (text, revision) => {
  expect(parseRevision(text)).toBe(revision)
  expect(deploymentRevision({ annotations: { [revisionAnnotation]: text } })).toBe(revision)
})

it('takes what says no revision for revision 0', () => {
  expect(deploymentRevision({})).toBe(0n)
  expect(deploymentRevision({ annotations: { other: '1' } })).toBe(0n)
})

it('tells revisions apart that are the same double', () => {
  const revisions = [3546343826724305834n, 3546343826724305833n, 1n, 1n]
  expect(revisions.toSorted(compareRevisions)).toEqual([1n, 1n, 3546343826724305833n, 3546343826724305834n])
})
