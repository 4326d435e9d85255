import type { KubernetesObject } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { selectorText } from './selector-text.ts'

const withSelector = (selector: unknown) =>
  ({ apiVersion: 'v1', kind: 'X', metadata: {}, spec: { selector } }) as unknown as KubernetesObject

describe('selectorText', () => {
  it.each([
    [{ app: 'web', tier: 'front' }, 'app=web,tier=front'],
    [
      {
        matchLabels: { app: 'web' },
        matchExpressions: [
          { key: 'env', operator: 'In', values: ['a', 'b'] },
          { key: 'tier', operator: 'NotIn', values: ['c'] },
          { key: 'track', operator: 'Exists' },
          { key: 'old', operator: 'DoesNotExist' },
        ],
      },
      'app=web,env in (a,b),tier notin (c),track,!old',
    ],
    [{}, undefined],
    [undefined, undefined],
  ])('writes %j as a query', (selector, expected) => {
    expect(selectorText(withSelector(selector))).toBe(expected)
  })
})
