/// How the page looks: as the painted picture does.
enum PageStyle {
    static let css = """
        * { box-sizing: border-box; margin: 0; }
        body { display: flex; gap: 44px; align-items: flex-start; padding: 28px; background: #f2f2f7; color: #1c1c1e;
          font: 15px/20px -apple-system, "SF Pro Text", Inter, "Helvetica Neue", "DejaVu Sans", sans-serif; }
        body.dark { background: #101014; color: #f2f2f7; }
        .phone { width: 417px; min-height: 560px; flex: none; padding: 46px 10px 34px; border: 12px solid #0b0b0d;
          border-radius: 56px; background: linear-gradient(160deg, #a9c8f5, #cdb9ee 55%, #f2c6cf); }
        .dark .phone { background: linear-gradient(160deg, #152a4a, #2a1f45 55%, #3c1f2c); border-color: #2c2c30; }
        .clock { margin-bottom: 30px; text-align: center; color: #fff; font-size: 76px; line-height: 84px;
          font-weight: 600; }
        .row { position: relative; margin-bottom: 8px; }
        .row > .number { position: absolute; top: 14px; right: -52px; }
        .card { position: relative; display: flex; gap: 10px; align-items: center; padding: 12px 14px;
          border-radius: 22px; background: #f5f5f8e6; color: #000; }
        .dark .card { background: #2c2c31e6; color: #fff; }
        .card.one { margin-bottom: 16px; box-shadow: 0 12px 0 -6px #e4e4eb; }
        .card.two { margin-bottom: 22px; box-shadow: 0 12px 0 -6px #e4e4eb, 0 24px 0 -12px #d2d2dc; }
        .dark .card.one { box-shadow: 0 12px 0 -6px #232328; }
        .dark .card.two { box-shadow: 0 12px 0 -6px #232328, 0 24px 0 -12px #1b1b20; }
        .icon { width: 38px; height: 38px; flex: none; align-self: flex-start; border-radius: 9px; color: #fff;
          background: linear-gradient(#4aa3ff, #0a66e0); font-size: 20px; line-height: 38px; text-align: center;
          font-weight: 600; overflow: hidden; }
        .text { flex: 1; min-width: 0; }
        .level { font-size: 11px; line-height: 15px; font-weight: 600; opacity: .6; }
        .head { display: flex; gap: 8px; font-size: 13px; line-height: 17px; opacity: .6; }
        .head bdi { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .title, .subtitle { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 600;
          text-align: start; }
        .body { display: -webkit-box; overflow: hidden; -webkit-box-orient: vertical; -webkit-line-clamp: 4;
          line-clamp: 4; white-space: pre-line; overflow-wrap: anywhere; text-align: start; }
        .below { font-size: 13px; line-height: 18px; opacity: .6; }
        .preview { width: 44px; height: 44px; flex: none; border-radius: 7px; background: #8e8e93; color: #fff;
          font-size: 20px; line-height: 44px; text-align: center; }
        .captions { max-width: 340px; padding: 174px 0 0; list-style: none; font-size: 13px; line-height: 18px; }
        .captions li { display: flex; gap: 10px; margin-bottom: 18px; overflow-wrap: anywhere; }
        .captions strong { font-size: 15px; line-height: 22px; }
        .captions div div { opacity: .7; }
        .number { width: 22px; height: 22px; flex: none; border-radius: 11px; background: #8e8e93; color: #fff;
          font-size: 12px; line-height: 22px; text-align: center; font-weight: 600; }
        .number.opened { background: #28a745; }
        .number.safe-default { background: #f08c00; }
        .number.original { background: #e03131; }
        .left-out { padding: 8px 14px; opacity: .7; }
        """
}
