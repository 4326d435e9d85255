import { describe, expect, it } from 'vitest'
import type { PolicyRule } from '../kinds/rbac/role.ts'
import { ruleAllowsPath, ruleAllowsResource } from './rule-matching.ts'

/** `get apps/deployments/scale web`: a verb, a group, a resource and perhaps its subresource, and perhaps a name. */
function allows(rule: PolicyRule, request: string): boolean {
  const [verb = '', what = '', name = ''] = request.split(' ')
  const [group = '', plural = '', subresource = ''] = what.split('/')
  return ruleAllowsResource(rule, { verb, group, plural, subresource, name })
}

const rule = (verbs: string, groups: string, resources: string, names?: string): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: groups.split(' '),
  resources: resources.split(' '),
  ...(names === undefined ? {} : { resourceNames: names.split(' ') }),
})

// What upstream's TestRuleMatches and TestAuthorizer hold to be so.
describe('a rule about resources', () => {
  it.each<[string, PolicyRule, readonly string[], readonly string[]]>([
    ['any verb', rule('*', 'g1', 'r1'), ['v1 g1/r1', 'v2 g1/r1'], ['v1 g2/r1', 'v1 g1/r2', 'v2 g2/r2']],
    ['any group', rule('v1', '*', 'r1'), ['v1 g1/r1', 'v1 g2/r1', 'v1 /r1'], ['v1 g1/r2', 'v2 g1/r1']],
    ['any resource', rule('v1', 'g1', '*'), ['v1 g1/r1', 'v1 g1/r2', 'v1 g1/r1/s1'], ['v1 g2/r1', 'v2 g1/r1']],
    [
      'several of each',
      rule('v1 v2', 'g1 g2', 'r1 r2'),
      ['v1 g1/r1', 'v2 g2/r2', 'v1 g2/r1'],
      ['v3 g1/r1', 'v1 g3/r1'],
    ],
    [
      'a subresource',
      rule('*', '*', 'r1/s1'),
      ['v1 g1/r1/s1', 'v2 g2/r1/s1'],
      ['v1 g1/r1', 'v1 g1/r1/s2', 'v1 g1/r2/s1'],
    ],
    ['a resource, which is not its subresources', rule('*', '*', 'r1'), ['v1 g1/r1'], ['v1 g1/r1/s1']],
    [
      'a subresource of any resource',
      rule('*', '*', '*/s1'),
      ['v1 g1/r1/s1', 'v1 g2/r2/s1'],
      ['v1 g1/r1', 'v1 g1/r1/s2'],
    ],
    ['some names', rule('v1', 'g1', 'r1', 'a b'), ['v1 g1/r1 a', 'v1 g1/r1 b'], ['v1 g1/r1 c', 'v1 g1/r1']],
    ['the core group', rule('v1', '', 'r1'), ['v1 /r1'], ['v1 g1/r1']],
    ['case', rule('get', '*', 'pods'), ['get /pods'], ['GET /pods', 'get /Pods']],
    ['a star that is no whole word', rule('v*', 'g*', 'r*'), [], ['v1 g1/r1', 'v g/r']],
  ])('goes by %s', (_, given, allowed, refused) => {
    expect(allowed.filter((request) => !allows(given, request))).toEqual([])
    expect(refused.filter((request) => allows(given, request))).toEqual([])
  })
})

describe('a rule about paths', () => {
  it.each<[PolicyRule, readonly string[], readonly string[]]>([
    [{ verbs: ['get'], nonResourceURLs: ['*'] }, ['get /foo', 'get /foo/bar'], ['post /foo']],
    [
      { verbs: ['get'], nonResourceURLs: ['/foo/*'] },
      ['get /foo/bar', 'get /foo/bar/one'],
      ['get /foo', 'get /notfoo/bar'],
    ],
    [{ verbs: ['*'], nonResourceURLs: ['/foo', '/foo/bar/one'] }, ['get /foo', 'put /foo/bar/one'], ['get /foo/bar']],
    [{ verbs: ['get'], nonResourceURLs: ['/foo**'] }, ['get /foo', 'get /foobar'], ['get /fo']],
    [{ verbs: ['get'], apiGroups: ['*'], resources: ['*'] }, [], ['get /foo']],
  ])('%j', (given, allowed, refused) => {
    const isAllowed = (request: string) => {
      const [verb = '', path = ''] = request.split(' ')
      return ruleAllowsPath(given, verb, path)
    }
    expect(allowed.filter((request) => !isAllowed(request))).toEqual([])
    expect(refused.filter(isAllowed)).toEqual([])
  })
})
