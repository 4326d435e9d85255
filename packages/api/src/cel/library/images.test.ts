import { describe, expect, it } from 'vitest'
import { compileCel } from '../program.ts'

const digest = `sha256:${'6a'.repeat(32)}`
const server = 'registry.k8s.io/kube-apiserver-arm64'

function evaluate(source: string): unknown {
  const compiled = compileCel(source, new Map())
  if ('problem' in compiled) return compiled.problem
  const outcome = compiled.program.run(new Map(), 1000)
  return 'error' in outcome ? outcome.error : outcome.value
}

describe('an image', () => {
  it.each<[string, unknown]>([
    [`isImage("${server}:latest")`, true],
    ['isImage("nginx")', true],
    [`isImage("${server}:latest@${digest}")`, true],
    ['isImage("localhost:5000/app:v1")', true],
    [`isImage("${server}:@")`, false],
    ['isImage("registry.k8s.io//kube-apiserver-arm64")', false],
    ['isImage("Nginx")', false],
    ['isImage("")', false],
    ['isImage("a.io/app@sha256:short")', false],
    [`image("${server}:@")`, `could not parse reference: ${server}:@`],
    [`image("${server}").containsDigest()`, false],
    [`image("${server}:latest").containsDigest()`, false],
    [`image("${server}@${digest}").containsDigest()`, true],
    [`image("${server}:latest@${digest}").containsDigest()`, true],
    [`image("${server}").registry()`, 'registry.k8s.io'],
    ['image("kube-apiserver-arm64:testtag").registry()', 'index.docker.io'],
    ['image("docker.io/library/nginx").registry()', 'index.docker.io'],
    ['image("localhost:5000/a/b").registry()', 'localhost:5000'],
    [`image("${server}").repository()`, 'kube-apiserver-arm64'],
    ['image("nginx").repository()', 'library/nginx'],
    ['image("team/app").repository()', 'team/app'],
    [`image("${server}:testtag").identifier()`, 'testtag'],
    [`image("${server}:latest@${digest}").identifier()`, digest],
    [`image("${server}").identifier()`, 'latest'],
    [`image("${server}:testtag").tag()`, 'testtag'],
    [`image("${server}").tag()`, 'latest'],
    [`image("${server}@${digest}").tag()`, ''],
    [`image("${server}").digest()`, ''],
    [`image("${server}:latest@${digest}").digest()`, digest],
  ])('%s is %s', (source, value) => {
    expect(evaluate(source)).toBe(value)
  })

  it('is read from a text alone', () => {
    expect(evaluate('isImage(0)')).toContain("found no matching overload for 'isImage' applied to '(int)'")
  })
})
