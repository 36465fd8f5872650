import { Component, type ReactNode } from "react";
import { Blank } from "../parts/blank.tsx";
import { ReloadButton } from "../parts/reload-button.tsx";

/** Keeps a page that fails from taking the whole with it: the masthead and the other pages stay. */
export class Crash extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div role="alert">
        <Blank title="This page failed">
          <p>{error.message}</p>
          <p>If the manager was updated meanwhile, reloading it helps.</p>
          <ReloadButton />
        </Blank>
      </div>
    );
  }
}
