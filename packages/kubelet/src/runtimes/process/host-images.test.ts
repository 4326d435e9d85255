import { describe, expect, it } from 'vitest'
import type { ContainerConfig } from '../runtime.ts'
import { asImageSays, parseHostImages } from './host-images.ts'

const container = (more: Partial<ContainerConfig>): ContainerConfig => ({
  name: 'main',
  attempt: 0,
  image: 'web',
  command: [],
  args: [],
  env: [],
  mounts: [],
  messageFromLog: false,
  ...more,
})

describe('what an image says', () => {
  const images = parseHostImages({
    web: {
      command: ['/usr/sbin/nginx'],
      args: ['-g', 'daemon off;'],
      env: [
        { name: 'PORT', value: '80' },
        { name: 'MODE', value: 'quiet' },
      ],
      workingDir: '/srv',
    },
  })

  it.each<readonly [string, Partial<ContainerConfig>, readonly string[], readonly string[]]>([
    ['stands where the container says nothing', {}, ['/usr/sbin/nginx'], ['-g', 'daemon off;']],
    ['is the entry point of arguments', { args: ['-t'] }, ['/usr/sbin/nginx'], ['-t']],
    ['goes with its arguments where there is a command', { command: ['sh'] }, ['sh'], []],
    ['goes where both are said', { command: ['sh'], args: ['-c', 'true'] }, ['sh'], ['-c', 'true']],
  ])('%s', (_, said, command, args) => {
    expect(asImageSays(container(said), images)).toMatchObject({ command, args })
  })

  it('is overridden by the environment and the working directory of the container', () => {
    const env = [{ name: 'PORT', value: '81' }]
    expect(asImageSays(container({ env, workingDirectory: '/' }), images)).toMatchObject({
      env: [{ name: 'MODE', value: 'quiet' }, ...env],
      workingDirectory: '/',
    })
    expect(asImageSays(container({}), images).workingDirectory).toBe('/srv')
  })
})

describe('the name of an image', () => {
  const digest = `sha256:${'0'.repeat(64)}`
  const images = parseHostImages(
    Object.fromEntries(
      [
        'nginx',
        'nginx:2',
        `nginx@${digest}`,
        'team/app',
        'localhost:5000/tool',
        'registry.k8s.io/pause',
        'ghcr.io/a/b:1',
      ].map((name) => [name, { command: [name] }]),
    ),
  )

  it.each([
    ['nginx', 'nginx'],
    ['nginx:1', 'nginx'],
    ['docker.io/library/nginx:1.29', 'nginx'],
    ['docker.io/nginx', 'nginx'],
    ['nginx:2', 'nginx:2'],
    ['library/nginx:2', 'nginx:2'],
    [`nginx:2@${digest}`, `nginx@${digest}`],
    [`nginx:2@sha256:${'1'.repeat(64)}`, 'nginx:2'],
    ['docker.io/team/app:x', 'team/app'],
    ['localhost:5000/tool:3', 'localhost:5000/tool'],
    ['localhost:5000/tool', 'localhost:5000/tool'],
    ['registry.k8s.io/pause:3.10', 'registry.k8s.io/pause'],
    ['ghcr.io/a/b:1', 'ghcr.io/a/b:1'],
    ['ghcr.io/a/b:2', undefined],
    ['quay.io/library/nginx', undefined],
    ['pause', undefined],
  ])('%s is found as %s', (image, expected) => {
    expect(asImageSays(container({ image }), images).command[0]).toBe(expected)
  })
})

describe('what is said of images is refused where', () => {
  it.each<readonly [string, unknown, RegExp]>([
    ['it is no object', ['nginx'], /must be an object with the names of images for keys/],
    ['an image is no object', { a: 'nginx' }, /"a": must be an object with command, args, env and workingDir/],
    ['a field is none', { a: { entrypoint: ['x'] } }, /"a": unknown field "entrypoint"/],
    ['a command is a text', { a: { command: 'x' } }, /"a": command: must be a list of strings/],
    ['an argument is a number', { a: { command: ['x'], args: [1] } }, /"a": args: must be a list of strings/],
    ['there is no program', { a: {} }, /"a": command: must name a program of this host/],
    ['a variable has no value', { a: { command: ['x'], env: [{ name: 'A' }] } }, /"a": env: /],
    ['a directory is a number', { a: { command: ['x'], workingDir: 1 } }, /"a": workingDir: must be a string/],
    [
      'two names mean one',
      { a: { command: ['x'] }, 'docker.io/a': { command: ['y'] } },
      /"docker.io\/a": is said twice/,
    ],
  ])('%s', (_, said, message) => {
    expect(() => parseHostImages(said)).toThrow(message)
  })
})
