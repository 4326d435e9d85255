import { homedir } from 'node:os'
import { expect, it } from 'vitest'
import { neutral } from './neutral-environment.ts'

it('is without what is somebody’s own', () => {
  const own = {
    ...{
      KUBECONFIG: '/home/jane/cluster',
      KUBE_EDITOR: 'code --wait',
      KUBECTL_EXTERNAL_DIFF: 'meld',
      HELM_NAMESPACE: 'team',
    },
    ...{ EDITOR: 'vi', HTTPS_PROXY: 'http://proxy', no_proxy: 'example.com', XDG_CACHE_HOME: '/cache', NO_COLOR: '1' },
    ...{
      LANG: 'ja_JP.UTF-8',
      LC_MESSAGES: 'de_DE',
      TZ: 'Pacific/Auckland',
      NODE_OPTIONS: '--inspect',
      GODEBUG: 'http2client=0',
      _: '/usr/bin/nohup',
    },
  }
  expect(neutral(own, '/home')).toEqual({ HOME: '/home', LC_ALL: 'C.UTF-8', TZ: 'UTC' })
})

it('has what tests and their tools are told', () => {
  const told = {
    PATH: '/bin',
    CI: 'true',
    TMPDIR: '/tmp',
    CORACLE_TEST_SERVERS: '2',
    npm_execpath: '/npm',
    NODE_ENV: 'test',
  }
  expect(neutral(told, '/home')).toMatchObject(told)
})

it('is that of this run', () => {
  expect([process.env.TZ, new Date(0).getTimezoneOffset(), homedir()]).toEqual(['UTC', 0, process.env.HOME])
  expect(neutral(process.env, homedir())).toEqual(process.env)
})
