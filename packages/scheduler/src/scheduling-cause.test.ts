import { expect, it } from 'vitest'
import { schedulingCause } from './scheduling-cause.ts'
import { makePod } from './testing/objects.ts'

it('says for which pod a node was looked for, by whom and why, and the state that was seen', () => {
  const pod = makePod({}, 'p')
  const seen = { ...pod, metadata: { ...pod.metadata, resourceVersion: '12' } }
  const object = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'p', uid: 'uid-p' }
  expect(schedulingCause('scheduler', seen, 'there is room')).toEqual({
    because: 'there is room',
    reconcile: { controller: 'scheduler', object, seen: [12] },
  })
  const { uid: _, ...metadata } = seen.metadata
  expect(schedulingCause('scheduler', { ...seen, metadata }, '').reconcile?.object).not.toHaveProperty('uid')
})

it.each([undefined, '', '0', '-1', '1.5', '9007199254740993', 'x'])(
  'has seen no state of the version %s',
  (version) => {
    const pod = makePod()
    const metadata = { ...pod.metadata, ...(version === undefined ? {} : { resourceVersion: version }) }
    expect(schedulingCause('scheduler', { ...pod, metadata }, '').reconcile?.seen).toEqual([])
  },
)
