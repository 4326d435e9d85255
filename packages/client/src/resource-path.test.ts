import { configMaps, nodes } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { collectionPath, objectPath } from './resource-path.ts'

describe('a path', () => {
  it.each([
    ['..', "may not be '..'"],
    ['.', "may not be '.'"],
    ['a/b', "may not contain '/'"],
    ['%2e/', "may not contain '/' may not contain '%'"],
  ])('leads nowhere by the name %s', (name, problems) => {
    expect(() => objectPath(nodes, { name })).toThrow(`invalid resource name ${JSON.stringify(name)}: [${problems}]`)
    const refusal = `invalid namespace ${JSON.stringify(name)}: [${problems}]`
    expect(() => collectionPath(configMaps, name)).toThrow(refusal)
    expect(() => objectPath(configMaps, { namespace: name, name: 'a' })).toThrow(refusal)
  })

  it('has other names with their escapes', () => {
    expect(objectPath(configMaps, { namespace: 'a b', name: '...?' })).toBe(
      '/api/v1/namespaces/a%20b/configmaps/...%3F',
    )
  })
})
