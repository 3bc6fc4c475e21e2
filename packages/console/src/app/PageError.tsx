import { Component, type ReactNode } from 'react';
import { ErrorNote } from '../parts/states.tsx';

/** Shows the error of a page that failed, instead of an empty window. */
export class PageError extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    return error ? <ErrorNote error={error} retry={() => this.setState({})} /> : this.props.children;
  }
}
