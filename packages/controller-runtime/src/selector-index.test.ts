import { type LabelRequirement, labelMatcher, nothing, parseLabelSelector } from '@coracle/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { labelTerms, selectorTerms } from './selector-index.ts'

const key = fc.constantFrom('app', 'tier', 'track')
const value = fc.constantFrom('a', 'b', '1')
const labels = fc.dictionary(key, value)
const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('=' as const, '!=' as const), values: fc.tuple(value) }),
  fc.record({ key, operator: fc.constantFrom('in' as const, 'notin' as const), values: fc.uniqueArray(value) }),
  fc.record({ key, operator: fc.constantFrom('exists' as const, '!' as const), values: fc.constant([]) }),
  fc.record({ key, operator: fc.constantFrom('>' as const, '<' as const), values: fc.constant(['0']) }),
)

describe('terms that join selectors and labels', () => {
  it('are shared by every selector and everything it selects, once', () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), labels, (requirements, object) => {
        const selector = labelMatcher(requirements)
        fc.pre(selector.matches(object))
        const terms = new Set(labelTerms('default', object))
        expect(selectorTerms('default', selector).filter((term) => terms.has(term))).toHaveLength(1)
      }),
    )
  })

  it.each([
    ['app=web,tier=front', ['default\napp=web']],
    ['app in (api,web),!legacy', ['default\napp=api', 'default\napp=web']],
    ['!legacy,release', ['default\nrelease']],
    ['!legacy', ['default\n']],
    ['', ['default\n']],
  ])('%s asks for %j', (text, terms) => {
    expect(selectorTerms('default', parseLabelSelector(text))).toEqual(terms)
  })

  it('are of one namespace', () => {
    expect(labelTerms('default', { app: 'web' })).not.toEqual(labelTerms('other', { app: 'web' }))
  })

  it('are made once for all who ask about the same frozen labels, one after another', () => {
    const [frozen, own] = [Object.freeze({ app: 'web' }), { app: 'web' }]
    expect(labelTerms('default', frozen)).toBe(labelTerms('default', frozen))
    expect(labelTerms('other', frozen)).toEqual(['other\n', 'other\napp=web', 'other\napp'])
    expect(labelTerms('default', own)).toHaveLength(3)
    Object.assign(own, { tier: 'front' })
    expect(labelTerms('default', own)).toHaveLength(5)
  })

  it('are none where nothing is selected', () => {
    expect(selectorTerms('default', nothing)).toEqual([])
  })
})
