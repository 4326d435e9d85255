import type { ManualPages } from '../manual-page.ts'

/** Commands that are connected to containers. */
export const streamPages: ManualPages = {
  exec: {
    details: [
      'The command is taken as it is, with no shell in between: where one is wanted it is part of the command.',
      'With -i and -t it has a terminal like this one, and Ctrl-C goes to it. Ending this command ends the one in the container.',
    ],
    examples: [
      ['one command', 'coracle exec web -- date'],
      ['a shell to work in', 'coracle exec -it deployment/web -- sh'],
      ['a file as its input', 'coracle exec -i db-0 -c db -- psql < dump.sql'],
    ],
    exitCodes: {
      0: 'the command has ended well; any other code is the one it has ended with',
      1: 'it has ended so, or could not be run',
    },
    seeAlso: ['attach', 'cp', 'logs'],
  },
  attach: {
    details: [
      'The container runs on when this command is ended, unless its input is to end with its first client (stdinOnce) and it has no terminal.',
      'With -i and -t, Ctrl-P Ctrl-Q leaves it: Ctrl-C goes to the container. --detach-keys names other keys, with commas: characters, ctrl- with a letter or one of @[\\]^_, and DEL.',
    ],
    examples: [
      ['what it writes from now on', 'coracle attach web'],
      ['and what is typed here goes to it', 'coracle attach -it web -c shell'],
    ],
    seeAlso: ['exec', 'logs', 'run'],
  },
  'port-forward': {
    details: [
      'Of an object with several pods one is taken. The command ends when that pod does, and is to be started again then.',
      'Ports may have names. Those of a Service stand for the ports of the pod that are behind them.',
    ],
    examples: [
      ['the same port here', 'coracle port-forward pod/web 8080'],
      ['another port here, of a Service', 'coracle port-forward service/web 8888:http'],
      ['any port that is free, on all addresses', 'coracle port-forward --address 0.0.0.0 deployment/web :80'],
    ],
    seeAlso: ['exec', 'get'],
  },
  cp: {
    details: [
      'The container must have the program tar. Links in what comes from a container are left out, and so is what would be written outside of the destination.',
    ],
    examples: [
      ['a folder into a container', 'coracle cp ./site web:/srv/site'],
      ['a file out of one, of another namespace', 'coracle cp shop/db-0:/var/lib/dump.sql ./dump.sql -c db'],
      ['a large one, over a connection that breaks', 'coracle cp --retries=10 db-0:/backup ./backup'],
    ],
    seeAlso: ['exec'],
  },
  debug: {
    details: [
      'A container that is added to a running pod (ephemeral) runs once and stays until the pod ends; it makes the pod neither ready nor fail.',
      'A copy has none of its labels, so that no Service and no controller takes it for one of theirs, and no probes, unless they are kept.',
      'On the process runtime all containers see the processes of the host, whatever --target says, and need a command: images are not unpacked.',
    ],
    examples: [
      ['a shell beside what a pod runs', 'coracle debug web -it --image=busybox --profile=general -- sh'],
      [
        'a copy whose container runs something else',
        'coracle debug web -it --copy-to=web-debug -c main --profile=general -- sh',
      ],
      [
        'a copy with another image in place of the pod',
        'coracle debug web --copy-to=web-2 --replace --set-image=*=example/web:debug',
      ],
      ['a pod in the namespaces of a node', 'coracle debug node/node-0 -it --image=busybox --profile=sysadmin'],
    ],
    seeAlso: ['exec', 'attach', 'logs'],
  },
}
