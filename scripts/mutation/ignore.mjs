/** Excludes the texts of messages from mutation, because only people read them. */
import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

/** The index of the argument that contains the text, by function, constructor or `.method`. −1 is the last argument. */
const WORDS_AT = {
  ...{ Error: 0, BadCertificate: 0, Fault: 0, fault: 0, refuse: 0, tokenInvalid: 0 },
  ...{ ExchangeError: 1, report: 1, finding: 2, '.add': 2, '.differs': 2, '.fault': -1 },
};
const WORDY_NAMES = ['description', 'message', 'remedy'];

const messages = {
  shouldIgnore(path) {
    return isText(path.node) && isWords(path) ? 'the words of a message' : undefined;
  },
};

function isText({ type }) {
  return type === 'StringLiteral' || type === 'TemplateLiteral';
}

function isWords({ node, parent }) {
  if (parent.type === 'ObjectProperty') return WORDY_NAMES.includes(parent.key.name);
  if (parent.type === 'VariableDeclarator') return WORDY_NAMES.includes(parent.id.name);
  if (parent.type !== 'NewExpression' && parent.type !== 'CallExpression') return false;
  const { callee } = parent;
  const name = callee.type === 'MemberExpression' ? `.${callee.property.name}` : callee.name;
  return Object.hasOwn(WORDS_AT, name) && node === parent.arguments.at(WORDS_AT[name]);
}

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'messages', messages)];
