export { openCriRuntime } from './open-cri-runtime.ts'
export { type CriRuntimeOptions, podLogsDirectoryDefault } from './runtime-options.ts'
export { CriRuntimeError } from './runtime-socket.ts'
