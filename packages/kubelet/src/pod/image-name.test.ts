import { describe, expect, it } from 'vitest'
import { imageNameProblem } from './image-name.ts'

const sum = 'a'.repeat(64)

describe('the name of an image', () => {
  it.each([
    'nginx',
    'nginx:1.27-alpine',
    `nginx@sha256:${sum}`,
    'team/web:latest',
    'registry.example.com/team/web_app.v2:Tag_1',
    'localhost/web',
    'localhost:5000/web',
    'Registry/web',
    '[::1]:5000/web',
    'a--b/c__d/e.f',
    `docker.io/web:v1@sha512:${'0'.repeat(128)}`,
    'sha256',
  ])('may be %s', (image) => {
    expect(imageNameProblem(image)).toBeUndefined()
  })

  const format = 'invalid reference format'
  it.each([
    ['', format],
    [' nginx', format],
    ['nginx:', format],
    ['nginx:a b', format],
    [`nginx:${'t'.repeat(129)}`, format],
    ['nginx:1:2', format],
    ['team//web', format],
    ['-web', format],
    ['a___b', format],
    ['-x.example/web', format],
    ['web@sha256:abc', format],
    ['Web', `${format}: repository name (library/Web) must be lowercase`],
    ['docker.io/Web:1', `${format}: repository name (library/Web) must be lowercase`],
    ['example.com/team/Web:1', `${format}: repository name (team/Web) must be lowercase`],
    [sum, `invalid repository name (${sum}), cannot specify 64-byte hexadecimal strings`],
    [`x/${'a'.repeat(256)}`, 'repository name must not be more than 255 characters'],
    [`web@md5:${'a'.repeat(32)}`, 'unsupported digest algorithm'],
    [`web@sha256:${'a'.repeat(32)}`, 'invalid checksum digest length'],
    [`web@sha256:${'A'.repeat(64)}`, 'invalid checksum digest format'],
  ])('may not be %j', (image, problem) => {
    expect(imageNameProblem(image)).toBe(problem)
  })
})
