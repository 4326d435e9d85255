import type { ManualPages } from '../manual-page.ts'

/** Commands by which other machines become nodes. */
export const machinePages: ManualPages = {
  agent: {
    details: [
      'It knows the cluster by the token and the hash of its authority, asks for a certificate of its own, and keeps it in its data directory: the next start needs neither. Its server at --port answers the API server and whoever else has rights to nodes/proxy and the like.',
    ],
    examples: [
      [
        'join, as coracle token create --print-join-command shows it',
        'coracle agent https://10.0.0.1:6443 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash sha256:…',
      ],
      ['go on after that', 'coracle agent'],
      ['with the containers of containerd', 'coracle agent --runtime cri'],
      ['as a kubeconfig says', 'coracle agent --kubeconfig node.kubeconfig --hostname-override far'],
    ],
    seeAlso: ['token create', 'up', 'drain'],
  },
  token: {
    examples: [['what machines may join with', 'coracle token list']],
    seeAlso: ['agent'],
  },
  'token create': {
    examples: [
      ['the command by which a machine joins', 'coracle token create --print-join-command'],
      ['good for an hour', 'coracle token create --ttl 1h --description "for the new rack"'],
    ],
    seeAlso: ['token list', 'agent'],
  },
  'token list': { examples: [['what machines may join with', 'coracle token list']], seeAlso: ['token delete'] },
  'token delete': {
    examples: [['nobody joins with it any more', 'coracle token delete abcdef']],
    seeAlso: ['token list'],
  },
}
