import { describe, expect, it } from 'vitest'
import { type RuleSubject, ruleMatches } from './rules.ts'

const pods = { operation: 'CREATE', group: '', version: 'v1', resource: 'pods', subresource: '', namespaced: true }
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }

describe('a rule', () => {
  it.each<[string, Partial<typeof rule>, Partial<RuleSubject>, boolean]>([
    ['itself', {}, {}, true],
    ['any operation', { operations: ['*'] }, { operation: 'CONNECT' }, true],
    ['one of its operations', { operations: ['UPDATE', 'CREATE'] }, {}, true],
    ['another operation', {}, { operation: 'UPDATE' }, false],
    ['any group', { apiGroups: ['*'] }, { group: 'apps' }, true],
    ['another group', {}, { group: 'apps' }, false],
    ['the first group where it wants another', { apiGroups: ['apps'] }, {}, false],
    ['any version', { apiVersions: ['*'] }, { version: 'v2' }, true],
    ['another version', {}, { version: 'v1beta1' }, false],
    ['another resource', {}, { resource: 'nodes' }, false],
    ['a subresource of its resource', {}, { subresource: 'log' }, false],
    ['its subresource', { resources: ['pods/log'] }, { subresource: 'log' }, true],
    ['the resource of its subresource', { resources: ['pods/log'] }, {}, false],
    ['another subresource', { resources: ['pods/log'] }, { subresource: 'exec' }, false],
    ['any subresource', { resources: ['pods/*'] }, { subresource: 'log' }, true],
    ['the resource itself as a subresource of any name', { resources: ['pods/*'] }, {}, true],
    ['any resource', { resources: ['*'] }, { resource: 'nodes' }, true],
    ['a subresource as any resource', { resources: ['*'] }, { subresource: 'log' }, false],
    ['a subresource of any resource', { resources: ['*/scale'] }, { resource: 'crates', subresource: 'scale' }, true],
    ['everything', { resources: ['*/*'] }, { subresource: 'log' }, true],
    ['one of its resources', { resources: ['nodes', 'pods'] }, {}, true],
    ['what is in namespaces', { scope: 'Namespaced' }, {}, true],
    ['what is in none, wanting namespaces', { scope: 'Namespaced' }, { namespaced: false }, false],
    ['what is in none', { scope: 'Cluster' }, { namespaced: false }, true],
    ['what is in namespaces, wanting none', { scope: 'Cluster' }, {}, false],
    ['a scope that nobody knows', { scope: 'World' }, {}, false],
    ['nothing', { resources: [] }, {}, false],
  ])('is asked about %s', (_, wanted, subject, matches) => {
    expect(ruleMatches({ ...rule, ...wanted }, { ...pods, ...subject })).toBe(matches)
  })
})
