import { describe, expect, it } from 'vitest'
import { KubeconfigEdit } from './kubeconfig-edit.ts'

const given = `# mine
apiVersion: v1
kind: Config
preferences: {colors: true} # unknown to most
clusters:
- name: work # do not touch
  cluster:
    server: https://work:6443
    extensions: []
users: null
contexts:
- {name: work, context: {cluster: work, user: me}}
current-context: work
`

const edited = async (text: string, change: (edit: KubeconfigEdit) => void): Promise<string> => {
  const edit = await KubeconfigEdit.parse(text, '/config')
  change(edit)
  return edit.toString()
}

describe('a kubeconfig that is changed', () => {
  it('keeps comments, order and what nobody knows', async () => {
    const added = await edited(given, (edit) => {
      edit.set('cluster', 'new', { server: 'https://new' })
      edit.set('user', 'new', { token: 't' })
      edit.currentContext = 'new'
    })
    expect(added).toContain('# mine\n')
    expect(added).toContain('preferences: { colors: true } # unknown to most\n')
    expect(added).toContain('- name: work # do not touch\n')
    expect(added).toContain('users:\n- name: new\n  user:\n    token: t\n')
    expect(added).toContain('current-context: new\n')
    const removed = await edited(added, (edit) => {
      for (const part of ['cluster', 'user'] as const) edit.remove(part, 'new')
      edit.currentContext = 'work'
    })
    expect(removed).toBe((await edited(given, () => {})).replace('users: null', 'users: []'))
  })

  it('has one entry of a name, which says the last that was set', async () => {
    const text = await edited(given, (edit) => edit.set('cluster', 'work', { server: 'https://other' }))
    const edit = await KubeconfigEdit.parse(text, '/config')
    expect(edit.names('cluster')).toEqual(['work'])
    expect(edit.get('cluster', 'work')).toEqual({ server: 'https://other' })
    expect(edit.get('context', 'work')).toEqual({ cluster: 'work', user: 'me' })
    expect(edit.get('user', 'me')).toBeUndefined()
  })

  it('is made from nothing', async () => {
    const text = await edited('', (edit) => edit.set('context', 'a', { cluster: 'a', user: 'a' }))
    expect(text).toBe('apiVersion: v1\nkind: Config\ncontexts:\n- name: a\n  context:\n    cluster: a\n    user: a\n')
  })

  it('leaves long lines whole', async () => {
    const data = 'QUJD'.repeat(100)
    expect(await edited('', (edit) => edit.set('cluster', 'a', { data }))).toContain(`data: ${data}\n`)
  })

  it('has no current context where that is empty', async () => {
    const edit = await KubeconfigEdit.parse(given, '/config')
    edit.currentContext = undefined
    expect(edit.currentContext).toBeUndefined()
    expect(edit.toString()).toContain('current-context: ""\n')
  })

  it.each([
    ['a: [', '/config is no YAML: '],
    ['- a', '/config is no kubeconfig: it holds no mapping'],
    ['clusters: {}', '/config: clusters is no list'],
  ])('is refused where it is none: %s', async (text, message) => {
    await expect(KubeconfigEdit.parse(text, '/config')).rejects.toThrow(message)
  })
})
